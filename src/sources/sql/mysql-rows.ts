import { isIP } from 'node:net';
import mysql from 'mysql2';
import { answerWithin } from '../../base/abort.js';
import { SourceError } from '../../booking/source.js';
import { isTrustFault } from '../../transports/http/network-failure.js';
import type { MysqlLogin } from './address.js';
import { createDatabaseFault, type DatabaseReason, readErrorCode } from './database-fault.js';
import {
  chunkBytes,
  measureRow,
  type RowBlock,
  type RowsRequest,
  rowLimit,
  type SqlRow,
  type SqlType,
} from './rows.js';

const connectTimeoutMs = 10_000;
const disconnectMs = 2_000;
const binaryCharset = 63;
const { Types } = mysql;
/** Types that hold bytes if their character set is binary. */
const stringTypes: readonly (number | undefined)[] = [
  Types.VARCHAR,
  Types.VAR_STRING,
  Types.STRING,
  Types.TINY_BLOB,
  Types.MEDIUM_BLOB,
  Types.LONG_BLOB,
  Types.BLOB,
];
const alwaysBytes: readonly (number | undefined)[] = [Types.BIT, Types.GEOMETRY];
const numberTypes: readonly (number | undefined)[] = [
  ...[Types.TINY, Types.SHORT, Types.INT24, Types.LONG, Types.LONGLONG, Types.YEAR, Types.BIT],
  ...[Types.FLOAT, Types.DOUBLE, Types.DECIMAL, Types.NEWDECIMAL],
];
/** What they are called as BOOLEAN: BIT(1) and TINYINT(1). */
const booleanTypes: readonly (number | undefined)[] = [Types.BIT, Types.TINY];

/** Reads rows as the server sends them, with backpressure: as texts, so that no digit of a number is lost. */
export async function* readMysqlRows(
  login: MysqlLogin,
  request: RowsRequest,
): AsyncGenerator<RowBlock, void, undefined> {
  const { where, signal } = request;
  requireName(login, where);
  const connection = mysql.createConnection({
    ...login,
    charset: 'utf8mb4',
    connectTimeout: connectTimeoutMs,
    enableKeepAlive: true,
    keepAliveInitialDelay: connectTimeoutMs,
    // The server must not request files of this machine.
    flags: ['-LOCAL_FILES'],
  });
  const session = watchSession(connection);
  /** The server ends the query when it next sends rows, or at its time limit. */
  const cut = () => cutConnection(connection);
  let isReading = false;
  let isComplete = false;
  signal.addEventListener('abort', cut, { once: true });
  try {
    await prepare(session, request);
    isReading = true;
    for await (const { isLast, ...block } of streamRows(connection, session, request)) {
      isComplete = isLast;
      yield block;
    }
  } catch (error) {
    throw explainMysqlError(error, where, isReading);
  } finally {
    signal.removeEventListener('abort', cut);
    if (isComplete) await answerWithin(disconnectMs, connection.promise().end()).catch(() => undefined);
    cut();
  }
}

/** For an IP address, the driver would accept any certificate for localhost. */
function requireName({ host, socketPath, ssl }: MysqlLogin, where: string): void {
  if (!ssl?.verifyIdentity || socketPath !== '' || isIP(host) === 0) return;
  const reason = 'it is checked against a name, and the host is a bare address: put its name into source.url';
  throw createDatabaseFault('certificate-untrusted', where, reason);
}

type MysqlSession = ReturnType<typeof watchSession>;

/** The connection's statements, and its failures: a connection that breaks while rows are read is reported only by an event. */
function watchSession(connection: mysql.Connection) {
  let failure: Error | undefined;
  let wake = () => {};
  const fail = (error: Error) => {
    failure ??= error;
    wake();
  };
  connection.on('error', fail);
  connection.on('end', () => fail(new Error('the connection ended')));
  const until = async (isThere: () => boolean): Promise<void> => {
    while (failure === undefined && !isThere()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (failure !== undefined) throw failure;
  };
  return {
    fail,
    /** Waits for what an event brings, which has to call `look`. @throws the driver's first error */
    until,
    look: () => wake(),
    /** A statement that is not the query. Returns its rows. */
    async run(sql: string): Promise<readonly unknown[][]> {
      let found: unknown;
      connection.query({ sql, rowsAsArray: true }, (error, rows) => {
        if (error) fail(error);
        found = rows ?? [];
        wake();
      });
      await until(() => found !== undefined);
      return Array.isArray(found) ? found : [];
    },
  };
}

/** More than any query returns: the server's own way to say that there is no limit. */
const noLimit = '18446744073709551615';
/** A joined text that is longer is cut, and then the row is longer than a record may be. */
const longestJoinedText = 4 * (rowLimit + 1);

/**
 * All that a session sets, for a day as for a sample, after what the server's `init_connect` has set. `docs/sources.md` lists it.
 * The first settings come before anything is read: a limit could hide the version, too.
 */
async function prepare({ run }: MysqlSession, { timeoutMs, atMost }: RowsRequest): Promise<void> {
  // Some servers ignore what the driver asks for when it connects, and answer in their own character set.
  await run('SET NAMES utf8mb4 COLLATE utf8mb4_general_ci');
  const seconds = Math.max(1, Math.ceil(timeoutMs / 1_000));
  await run(
    `SET SESSION sql_select_limit = ${noLimit}, SESSION sql_big_selects = 1,
       SESSION group_concat_max_len = ${longestJoinedText},
       SESSION time_zone = '+00:00', SESSION net_write_timeout = ${seconds},
       SESSION sql_mode = REPLACE(@@SESSION.sql_mode, 'NO_BACKSLASH_ESCAPES', '')`,
  );
  const [version] = (await run('SELECT VERSION()'))[0] ?? [];
  await run(
    /mariadb/i.test(String(version))
      ? `SET SESSION max_statement_time = ${timeoutMs / 1_000}`
      : `SET SESSION max_execution_time = ${Math.ceil(timeoutMs)}`,
  );
  await run('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await run('START TRANSACTION READ ONLY');
  // Not a LIMIT around the query: that would lose its order and reject two columns with the same name.
  if (Number.isFinite(atMost)) await run(`SET SESSION sql_select_limit = ${atMost}`);
}

/** Sends the query, and pauses the server while as many rows wait as a reader takes at a time. */
async function* streamRows(
  connection: mysql.Connection,
  { fail, until, look }: MysqlSession,
  { text, where, chunkRows }: RowsRequest,
): AsyncGenerator<RowBlock & { readonly isLast: boolean }, void, undefined> {
  let rows: SqlRow[] = [];
  let bytes = 0;
  const isFull = () => rows.length >= chunkRows || bytes >= chunkBytes;
  let fields: readonly mysql.FieldPacket[] | undefined;
  let cells: readonly MysqlCell[] = [];
  let next = 0;
  let hasEnded = false;
  // Called for each cell in turn. Reading texts here, and not from bytes later, saves a Buffer each.
  const typeCast: mysql.TypeCast = (cell) => {
    const kind = cells[next];
    next = next + 1 === cells.length ? 0 : next + 1;
    if (kind === 'bytes') return cell.buffer();
    const written = cell.string('utf8');
    // The session's zone is UTC.
    return kind === 'instant' && written !== null ? `${written}Z` : written;
  };
  const query = connection.query({ sql: text, rowsAsArray: true, typeCast });
  query.on('error', fail);
  query.on('fields', (columns: readonly mysql.FieldPacket[] | undefined) => {
    // A procedure ends with an empty result; the one before it counts.
    if (fields !== undefined && columns !== undefined) fail(new Error('more than one result'));
    fields ??= columns ?? [];
    cells = fields.map(chooseCell);
  });
  query.on('result', (row: unknown) => {
    if (!Array.isArray(row)) return;
    rows.push(row);
    bytes += measureRow(row);
    if (!isFull()) return;
    connection.pause();
    look();
  });
  query.on('end', () => {
    hasEnded = true;
    look();
  });

  for (let isLast = false; !isLast; ) {
    if (!isFull() && !hasEnded) connection.resume();
    await until(() => hasEnded || isFull());
    if (!fields?.length) throw createDatabaseFault('no-rows', where, 'no columns');
    const block = { columns: fields.map(({ name }) => name), types: fields.map(typeOf), rows };
    rows = [];
    bytes = 0;
    isLast = hasEnded;
    yield { ...block, isLast };
  }
}

/** How the cells of a column are read: as the server's text, as its bytes, or as an instant, whose zone the text lacks. */
type MysqlCell = 'text' | 'bytes' | 'instant';

function chooseCell({ columnType, characterSet }: mysql.FieldPacket): MysqlCell {
  if (alwaysBytes.includes(columnType)) return 'bytes';
  if (columnType === Types.TIMESTAMP) return 'instant';
  return characterSet === binaryCharset && stringTypes.includes(columnType) ? 'bytes' : 'text';
}

function typeOf({ columnType, columnLength }: mysql.FieldPacket): SqlType {
  if (columnLength === 1 && booleanTypes.includes(columnType)) return 'boolean';
  return numberTypes.includes(columnType) ? 'number' : 'other';
}

/** Explains an error of the driver without quoting its message. */
function explainMysqlError(error: unknown, where: string, isReading: boolean): unknown {
  if (error instanceof SourceError || !(error instanceof Error)) return error;
  const code = readErrorCode(error) ?? 'connection lost';
  const number = 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined;
  // Numbers below 1,000, such as the negative ones of the system, are not the server's.
  if (number === undefined || number < 1_000) {
    if (code === 'HANDSHAKE_SSL_ERROR' || isTrustFault(code))
      return createDatabaseFault('certificate-untrusted', where, code);
    if (code === 'HANDSHAKE_NO_SSL_SUPPORT') return createDatabaseFault('no-tls', where, code);
    return createDatabaseFault(isReading ? 'lost' : 'unreachable', where, code);
  }
  const reason = reasons.get(number) ?? 'failed';
  return createDatabaseFault(
    reason === 'unreachable' && isReading ? 'lost' : reason,
    where,
    code.startsWith('ER_') ? `${number} ${code}` : String(number),
  );
}

/** The server's error numbers. */
const numbers: { readonly [reason in DatabaseReason]?: readonly number[] } = {
  // Also an account that is locked, or whose password has expired, and a host that is blocked.
  'login-refused': [1044, 1045, 1129, 1130, 1251, 1524, 1698, 1820, 1862, 2061, 3118, 3159, 3955, 4150, 4151],
  'no-database': [1046, 1049],
  'no-permission': [1142, 1143, 1227, 1370],
  'would-write': [1290, 1792, 1836],
  'too-slow': [1969, 3024],
  // Too many connections, in the middle of a failover or of a start, or stopping.
  unreachable: [
    1040, 1047, 1053, 1077, 1080, 1152, 1153, 1158, 1159, 1160, 1161, 1203, 1226, 1927, 3168, 3169,
  ],
  cancelled: [1205, 1213, 1317],
  'query-wrong': [1052, 1054, 1064, 1109, 1146, 1210, 1222, 1267, 1295, 1305, 1630],
};
const reasons = new Map(
  Object.entries(numbers).flatMap(([reason, list]) =>
    list.map((number) => [number, reason as DatabaseReason] as const),
  ),
);

/** The driver's own methods wait for data that is still to come. */
function cutConnection(connection: mysql.Connection): void {
  const { stream } = connection as unknown as { readonly stream: { destroy(): void } };
  stream.destroy();
}

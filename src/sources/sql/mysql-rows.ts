import { isIP } from 'node:net';
import mysql from 'mysql2';
import { SourceError } from '../../booking/source.js';
import { isTrustFault } from '../../transports/http/network-failure.js';
import type { MysqlLogin } from './address.js';
import { createDatabaseFault, type DatabaseReason, readErrorCode } from './database-fault.js';
import {
  chunkBytes,
  measureRow,
  type RowsRequest,
  rowLimit,
  type SqlRow,
  type SqlRows,
  type SqlType,
} from './rows.js';

interface MysqlSource {
  readonly login: MysqlLogin;
  /** The file of the authority's certificate, absolute. */
  /** For messages. */
  readonly where: string;
}

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

/**
 * Reads rows as the server sends them, with backpressure.
 *
 * The query and its values are sent as bound values of session variables, from which the server prepares the statement.
 * That way rows come as text: the driver's own prepared statements lose the zeros of a ZEROFILL column and digits of a
 * FLOAT.
 */
export async function openMysqlRows(source: MysqlSource, request: RowsRequest): Promise<SqlRows> {
  const { where } = source;
  const { text, values, chunkRows, signal } = request;
  let isReading = false;
  const fail = (error: unknown) => explainMysqlError(error, where, isReading);
  let session: MysqlSession | undefined;
  const onAbort = () => void session?.close();
  const release = async () => {
    signal.removeEventListener('abort', onAbort);
    await session?.close();
  };
  try {
    session = createMysqlSession(await toOptions(source));
    signal.addEventListener('abort', onAbort, { once: true });
    await session.connected();
    signal.throwIfAborted();
    await prepare(session, request);
    const names = values.map((_, index) => `@hotel_review_${index}`);
    const assigned = ['@hotel_review_query', ...names].map((name) => `${name} = ?`);
    await session.execute(`SET ${assigned.join(', ')}`, [text, ...values]);
    await session.run('PREPARE hotel_review FROM @hotel_review_query');
    isReading = true;
    const rows = session.stream(`EXECUTE hotel_review USING ${names.join(', ')}`, chunkRows, chooseCell);
    const fields = await rows.fields();
    if (fields.length === 0) throw createDatabaseFault('no-rows', where, 'no columns');
    return {
      columns: fields.map(({ name }) => name),
      types: fields.map(typeOf),
      async next() {
        try {
          return await rows.next();
        } catch (error) {
          throw fail(error);
        }
      },
      close: release,
    };
  } catch (error) {
    await release();
    throw fail(error);
  }
}

/** More than any query returns: the server's own way to say that there is no limit. */
const noLimit = '18446744073709551615';
/** A joined text that is longer is cut, and then the row is longer than a record may be. */
const longestJoinedText = 4 * (rowLimit + 1);

/**
 * All that a session sets, for a day as for a sample, after what the server's `init_connect` has set. `docs/sources.md` lists it.
 * The first settings come before anything is read: a limit could hide the version, too.
 */
async function prepare(session: MysqlSession, { timeoutMs, atMost }: RowsRequest): Promise<void> {
  // Some servers ignore what the driver asks for when it connects, and answer in their own character set.
  await session.run('SET NAMES utf8mb4 COLLATE utf8mb4_general_ci');
  const seconds = Math.max(1, Math.ceil(timeoutMs / 1_000));
  await session.run(
    `SET SESSION sql_select_limit = ${noLimit}, SESSION sql_big_selects = 1,
       SESSION group_concat_max_len = ${longestJoinedText},
       SESSION time_zone = '+00:00', SESSION net_write_timeout = ${seconds},
       SESSION sql_mode = REPLACE(@@SESSION.sql_mode, 'NO_BACKSLASH_ESCAPES', '')`,
  );
  const [version] = (await session.run('SELECT VERSION()'))[0] ?? [];
  await session.run(
    /mariadb/i.test(String(version))
      ? `SET SESSION max_statement_time = ${timeoutMs / 1_000}`
      : `SET SESSION max_execution_time = ${Math.ceil(timeoutMs)}`,
  );
  await session.run('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await session.run('START TRANSACTION READ ONLY');
  // Not a LIMIT around the query: that would lose its order and reject two columns with the same name.
  if (atMost !== undefined) await session.run(`SET SESSION sql_select_limit = ${atMost}`);
}

async function toOptions({ login, where }: MysqlSource): Promise<mysql.ConnectionOptions> {
  const { host, port, user, password, database, socket, tls = 'off' } = login;
  const isVerified = tls === 'verified';
  // For an IP address, the driver would accept any certificate for localhost.
  if (isVerified && socket === undefined && isIP(host) !== 0) {
    const reason =
      'it is checked against a name, and the host is a bare address: put its name into source.url';
    throw createDatabaseFault('certificate-untrusted', where, reason);
  }
  return {
    ...(socket === undefined ? { host, port } : { socketPath: socket }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ...(tls !== 'off' && {
      ssl: {
        rejectUnauthorized: isVerified,
        verifyIdentity: isVerified,
      },
    }),
  };
}

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

const connectTimeoutMs = 10_000;
const disconnectMs = 2_000;

/** A row of texts as the server sent them, as bytes. */
type RawRow = readonly unknown[];

/** How the cells of a column are read: as the server's text, as its bytes, or as an instant, whose zone the text lacks. */
type MysqlCell = 'text' | 'bytes' | 'instant';

interface MysqlRowStream {
  /** The columns; none if the statement returns no rows. */
  fields(): Promise<readonly mysql.FieldPacket[]>;
  /** The next rows; none once the server has reported the end. */
  next(): Promise<readonly SqlRow[]>;
}

/** One connection to MySQL. Failures reject with the driver's error, including those that the driver only emits. */
interface MysqlSession {
  connected(): Promise<void>;
  /** A statement without values. */
  run(sql: string): Promise<readonly RawRow[]>;
  /** A statement whose values are bound on the server. */
  execute(sql: string, values: readonly string[]): Promise<void>;
  /** @param chunkRows about how many rows to buffer before the server is paused */
  stream(
    sql: string,
    chunkRows: number,
    chooseCell: (column: mysql.FieldPacket) => MysqlCell,
  ): MysqlRowStream;
  /** Ends the connection, or cuts it while a query runs. Never throws. */
  close(): Promise<void>;
}

function createMysqlSession(options: mysql.ConnectionOptions): MysqlSession {
  const connection = mysql.createConnection({
    ...options,
    charset: 'utf8mb4',
    connectTimeout: connectTimeoutMs,
    enableKeepAlive: true,
    keepAliveInitialDelay: connectTimeoutMs,
    // The server must not request files of this machine.
    flags: ['-LOCAL_FILES'],
  });
  let isBusy = false;
  let lost: Error | undefined;
  const onLost = new Set<(error: Error) => void>();
  // A connection that breaks while rows are read is reported only here.
  connection.on('error', (error: Error) => lose(error));
  connection.on('end', () => lose(new Error('the connection ended')));

  function lose(error: Error): void {
    lost ??= error;
    for (const tell of onLost) tell(lost);
  }

  function perform<Result>(work: (settle: (error: Error | null, result: Result) => void) => void) {
    return new Promise<Result>((resolve, reject) => {
      if (lost) return reject(lost);
      onLost.add(reject);
      isBusy = true;
      work((error, result) => {
        onLost.delete(reject);
        isBusy = false;
        if (error) reject(error);
        else resolve(result);
      });
    });
  }

  let ending: Promise<void> | undefined;
  return {
    connected: () =>
      perform<void>((settle) =>
        connection.connect((error) => {
          if (error) lose(error);
          settle(error, undefined);
        }),
      ),
    run: (sql) =>
      perform<RawRow[]>((settle) =>
        connection.query({ sql, rowsAsArray: true }, (error, rows) =>
          settle(error, Array.isArray(rows) ? (rows as RawRow[]) : []),
        ),
      ),
    execute: (sql, values) =>
      perform<void>((settle) => connection.execute(sql, [...values], (error) => settle(error, undefined))),
    stream(sql, chunkRows, chooseCell) {
      let rows: SqlRow[] = [];
      let bytes = 0;
      const isFull = () => rows.length >= chunkRows || bytes >= chunkBytes;
      let fields: readonly mysql.FieldPacket[] | undefined;
      let hasEnded = false;
      let failure = lost;
      let wake = () => {};
      const fail = (error: Error) => {
        failure ??= error;
        wake();
      };
      onLost.add(fail);
      isBusy = true;
      let cells: readonly MysqlCell[] = [];
      let next = 0;
      // Called for each cell in turn. Reading texts here, and not from bytes later, saves a Buffer each.
      const typeCast: mysql.TypeCast = (cell) => {
        const kind = cells[next];
        next = next + 1 === cells.length ? 0 : next + 1;
        if (kind === 'bytes') return cell.buffer();
        const text = cell.string('utf8');
        // The session's zone is UTC.
        return kind === 'instant' && text !== null ? `${text}Z` : text;
      };
      const query = connection.query({ sql, rowsAsArray: true, typeCast });
      query.on('error', fail);
      query.on('fields', (columns: readonly mysql.FieldPacket[] | undefined) => {
        // A procedure ends with an empty result; the one before it counts.
        if (fields !== undefined && columns !== undefined) fail(new Error('more than one result'));
        fields ??= columns ?? [];
        cells = fields.map(chooseCell);
        wake();
      });
      query.on('result', (row: unknown) => {
        if (!Array.isArray(row)) return;
        rows.push(row);
        bytes += measureRow(row);
        if (!isFull()) return;
        connection.pause();
        wake();
      });
      query.on('end', () => {
        hasEnded = true;
        isBusy = false;
        wake();
      });
      const until = async (isThere: () => boolean) => {
        while (failure === undefined && !isThere()) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        if (failure !== undefined) throw failure;
      };
      return {
        async fields() {
          await until(() => fields !== undefined || hasEnded);
          return fields ?? [];
        },
        async next() {
          if (!isFull() && !hasEnded) connection.resume();
          await until(() => hasEnded || isFull());
          const taken = rows;
          rows = [];
          bytes = 0;
          return taken;
        },
      };
    },
    close() {
      ending ??= isBusy ? abandon() : disconnect();
      return ending;
    },
  };

  async function disconnect(): Promise<void> {
    // A server that is gone, or that rejected the login, doesn't respond to it.
    if (lost === undefined)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, disconnectMs);
        connection.end(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    cut(connection);
  }

  /** The server ends the query when it next sends rows, or at its time limit. */
  async function abandon(): Promise<void> {
    cut(connection);
    lose(new Error('the reading was ended'));
  }
}

/** The driver's own methods wait for data that is still to come. */
function cut(connection: mysql.Connection): void {
  const { stream } = connection as unknown as { readonly stream: { destroy(): void } };
  stream.destroy();
}

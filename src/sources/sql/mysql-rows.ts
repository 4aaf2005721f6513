import { isIP } from 'node:net';
import mysql from 'mysql2';
import type { MysqlLogin } from './address.js';
import { createDatabaseFault } from './database-fault.js';
import { explainMysqlError } from './mysql-faults.js';
import { createMysqlSession, type MysqlCell, type MysqlSession } from './mysql-session.js';
import type { RowsRequest, SqlRows } from './rows.js';

interface MysqlPlace {
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

/**
 * Reads rows as the server sends them, with backpressure.
 *
 * The query and its values are sent as bound values of session variables, from which the server prepares the statement.
 * That way rows come as text: the driver's own prepared statements lose the zeros of a ZEROFILL column and digits of a
 * FLOAT.
 */
export async function openMysqlRows(place: MysqlPlace, request: RowsRequest): Promise<SqlRows> {
  const { where } = place;
  const { text, values, chunkRows, signal } = request;
  let isReading = false;
  const fail = (error: unknown) => explainMysqlError(error, where, isReading);
  let session: MysqlSession | undefined;
  const onAbort = () => void session?.cancel();
  const release = async () => {
    signal.removeEventListener('abort', onAbort);
    await session?.close();
  };
  try {
    session = createMysqlSession(await toOptions(place));
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

/** Sets up the session and starts a read-only transaction. */
async function prepare(session: MysqlSession, { timeoutMs, atMost }: RowsRequest): Promise<void> {
  // Some servers ignore what the driver asks for when it connects, and answer in their own character set.
  await session.run('SET NAMES utf8mb4 COLLATE utf8mb4_general_ci');
  const seconds = Math.max(1, Math.ceil(timeoutMs / 1_000));
  await session.run(
    `SET SESSION time_zone = '+00:00', SESSION net_write_timeout = ${seconds},
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

async function toOptions({ login, where }: MysqlPlace): Promise<mysql.ConnectionOptions> {
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

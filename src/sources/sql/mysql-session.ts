import mysql from 'mysql2';
import { chunkBytes, measureRow, type SqlRow } from './rows.js';

const connectTimeoutMs = 10_000;
const disconnectMs = 2_000;

/** A row of texts as the server sent them, as bytes. */
type RawRow = readonly unknown[];

/** How the cells of a column are read: as the server's text, as its bytes, or as an instant, whose zone the text lacks. */
export type MysqlCell = 'text' | 'bytes' | 'instant';

interface MysqlRowStream {
  /** The columns; none if the statement returns no rows. */
  fields(): Promise<readonly mysql.FieldPacket[]>;
  /** The next rows; none once the server has reported the end. */
  next(): Promise<readonly SqlRow[]>;
}

/** One connection to MySQL. Failures reject with the driver's error, including those that the driver only emits. */
export interface MysqlSession {
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

export function createMysqlSession(options: mysql.ConnectionOptions): MysqlSession {
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

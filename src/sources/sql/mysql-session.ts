import mysql from 'mysql2';
import { chunkBytes, measureRow } from './rows.js';

const connectTimeoutMs = 10_000;
const farewellMs = 2_000;

/** A row of texts as the server sent them, in bytes. */
type RawRow = readonly unknown[];

export interface MysqlRowStream {
  /** The columns; none where the statement gives no rows. */
  fields(): Promise<readonly mysql.FieldPacket[]>;
  /** The next rows; none behind the end that the server told. */
  next(): Promise<readonly RawRow[]>;
}

/** One connection of MySQL's. Whatever fails, fails with the driver's error, also where the driver only tells it aloud. */
export interface MysqlSession {
  connected(): Promise<void>;
  /** A statement without values. */
  run(sql: string): Promise<readonly RawRow[]>;
  /** A statement whose values are bound on the server. */
  execute(sql: string, values: readonly string[]): Promise<void>;
  /** @param chunkRows how many rows are taken in, about, before the server is held back */
  stream(sql: string, chunkRows: number): MysqlRowStream;
  /** Cuts the connection and ends what it does on the server. It never throws. */
  cancel(): Promise<void>;
  /** Says farewell, or cancels what is under way. It never throws. */
  close(): Promise<void>;
}

export function createMysqlSession(options: mysql.ConnectionOptions): MysqlSession {
  const whole: mysql.ConnectionOptions = {
    ...options,
    charset: 'utf8mb4',
    connectTimeout: connectTimeoutMs,
    enableKeepAlive: true,
    keepAliveInitialDelay: connectTimeoutMs,
    // No server shall ask this machine for its files.
    flags: ['-LOCAL_FILES'],
  };
  const connection = mysql.createConnection(whole);
  let isBusy = false;
  let lost: Error | undefined;
  const onLost = new Set<(error: Error) => void>();
  // A connection that breaks under rows is told here and nowhere else.
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
  const session: MysqlSession = {
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
    stream(sql, chunkRows) {
      let rows: RawRow[] = [];
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
      const query = connection.query({ sql, rowsAsArray: true, typeCast: false });
      query.on('error', fail);
      query.on('fields', (columns: readonly mysql.FieldPacket[] | undefined) => {
        // A procedure ends with a result that is none; what it gave before is what counts.
        if (fields !== undefined && columns !== undefined) fail(new Error('more than one result'));
        fields ??= columns ?? [];
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
    cancel() {
      ending ??= isBusy ? kill() : leave();
      return ending;
    },
    close: () => session.cancel(),
  };

  async function leave(): Promise<void> {
    // A server that is gone, or that let nobody in, answers no farewell.
    if (lost === undefined) await within(farewellMs, (done) => connection.end(() => done()));
    cut(connection);
  }

  /** A server that is deep in a query doesn't notice that nobody listens any more. */
  async function kill(): Promise<void> {
    const { threadId } = connection;
    const wasLost = lost !== undefined;
    cut(connection);
    lose(new Error('the reading was ended'));
    // Where the server went away, it may have come back, and given the number to somebody else.
    if (wasLost || typeof threadId !== 'number') return;
    const other = mysql.createConnection({ ...whole, connectTimeout: farewellMs });
    await within(farewellMs * 2, (done) => {
      other.on('error', done);
      other.query(`KILL ${threadId}`, () => other.end(() => done()));
    });
    cut(other);
  }

  return session;
}

function within(milliseconds: number, work: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    work(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** The driver's own way to end a connection waits for what still comes. */
function cut(connection: mysql.Connection): void {
  const { stream } = connection as unknown as { readonly stream: { destroy(): void } };
  stream.destroy();
}

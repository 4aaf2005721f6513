import Libsql from 'libsql';
import { explainNoRoom } from '../../base/disk-room.js';
import { codeOf } from '../../base/safe-error.js';
import { DatabaseBusyError, LedgerFullError, LedgerUnusableError } from '../errors.js';

/** The values that can be bound and returned; others are refused here, because libsql aborts or silently fails on them. */
export type Value = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, string | number | null | Buffer>>;

export type Database = ReturnType<typeof openDatabase>;

/** The second code: the shared-memory file beside the WAL can't grow. */
const noRoom: readonly unknown[] = ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'];

/**
 * Opens an SQLite database: the only place that uses libsql. It binds, reads and converts values in a way that avoids all
 * known faults of the driver, each of which has a test: binding a boolean, a lone Buffer or invalid UTF-8 aborts the process;
 * missing parameters reuse the last ones; text ends at NUL; BLOBs have two types; `readonly` is ignored; a statement that met
 * BUSY blocks later commits.
 *
 * Every operation throws LedgerFullError when the disk has no room for it, and LedgerUnusableError when the file is damaged.
 */
export function openDatabase(path: string, { busyTimeoutMs }: { readonly busyTimeoutMs: number }) {
  const connection = new Libsql(path, { timeout: busyTimeoutMs });
  connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  // One prepared statement per SQL text: preparing in a loop leaks until the event loop turns.
  const statements = new Map<string, { statement: Libsql.Statement; parameters: number }>();
  let isClosed = false;

  function prepare(sql: string, values: readonly Value[]): Libsql.Statement {
    let prepared = statements.get(sql);
    if (!prepared) {
      prepared = { statement: connection.prepare(sql), parameters: countParameters(sql) };
      statements.set(sql, prepared);
    }
    if (values.length !== prepared.parameters) {
      throw new TypeError(`expected ${prepared.parameters} values, got: ${values.length}, for ${sql}`);
    }
    values.forEach(checkValue);
    return prepared.statement;
  }

  function perform<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (isFull(error))
        throw new LedgerFullError(path, { why: explainNoRoom({ code: 'ENOSPC' }, path), cause: error });
      throw isDamage(error) ? new LedgerUnusableError(path, describeDamage(path), { cause: error }) : error;
    }
  }

  const all = (sql: string, ...values: readonly Value[]): Row[] =>
    perform(() => prepare(sql, values).all([...values]) as Record<string, unknown>[]).map(toRow);

  return {
    all,
    get: (sql: string, ...values: readonly Value[]): Row | undefined => all(sql, ...values)[0],
    /** Runs a statement inside a transaction and returns how many rows it changed. */
    run(sql: string, ...values: readonly Value[]): number {
      const statement = prepare(sql, values);
      // Outside a transaction it could get BUSY, after which this connection could never commit again.
      if (!connection.inTransaction) throw new Error(`expected an open transaction for ${sql}`);
      return perform(() => statement.run([...values]).changes);
    },
    exec: (sql: string) => perform(() => void connection.exec(sql)),
    /** Runs `work` in one immediate transaction: all of it or nothing. Not reentrant. */
    transact<Result>(work: () => Result): Result {
      // Only `exec` takes locks: a prepared statement that got BUSY would block later commits.
      try {
        perform(() => connection.exec('BEGIN IMMEDIATE'));
      } catch (error) {
        throw isBusy(error)
          ? new DatabaseBusyError(`${path} is locked by another process`, { cause: error })
          : error;
      }
      try {
        const result = work();
        perform(() => connection.exec('COMMIT'));
        return result;
      } catch (error) {
        if (connection.inTransaction) connection.exec('ROLLBACK');
        throw error;
      }
    },
    /** What `work` reads is of one moment, whatever other processes commit meanwhile. */
    readTogether<Result>(work: () => Result): Result {
      perform(() => connection.exec('BEGIN'));
      try {
        return work();
      } finally {
        // There is nothing to commit.
        connection.exec('ROLLBACK');
      }
    },
    close(): void {
      if (isClosed) return;
      isClosed = true;
      // The driver keeps unfinalised statements, and with them the connection and its locks, until garbage collection.
      if (connection.inTransaction) connection.exec('ROLLBACK');
      statements.clear();
      connection.close();
    },
  };
}

export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') ?? false;
}

function isDamage(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_CORRUPT') ?? false;
}

/** What to do about a damaged file, or one that is not what was opened. */
export const adviseOnFile = (path: string) =>
  `stop all processes that use it, put the right file there without the ${path}-wal and ${path}-shm of another, and start them again`;

export function describeDamage(path: string): string {
  return `expected a whole ledger, got: a damaged one, such as a copy beside the ${path}-wal of a later one; ${adviseOnFile(path)}`;
}

function isFull(error: unknown): boolean {
  return noRoom.includes(codeOf(error));
}

function countParameters(sql: string): number {
  return sql.split('?').length - 1;
}

function checkValue(value: Value): void {
  if (value === null || value instanceof Uint8Array) return;
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new TypeError('a text with a NUL character cannot be stored');
    if (!value.isWellFormed()) throw new TypeError('a text with a lone surrogate cannot be stored');
    return;
  }
  if (typeof value === 'number' && Number.isSafeInteger(value)) return;
  throw new TypeError(`expected a text, an integer, bytes or null, got: ${typeof value}`);
}

/** all() returns BLOBs as ArrayBuffers. */
function toRow(raw: Record<string, unknown>): Row {
  for (const name in raw) {
    const value = raw[name];
    if (value instanceof ArrayBuffer) raw[name] = Buffer.from(value);
  }
  return raw as Row;
}

/**
 * Groups frequent small writes into shared commits: a commit waits for the disk, which is most of the time of a small
 * transaction.
 */
export function createGroupCommit(database: Database) {
  let gathered: {
    /** Returns the function that reports that it is committed. */
    readonly work: () => () => void;
    readonly reject: (error: unknown) => void;
  }[] = [];

  function flush(): void {
    const pieces = gathered;
    gathered = [];
    if (pieces.length > 0) perform(pieces);
  }

  function perform(pieces: typeof gathered): void {
    try {
      const reports = database.transact(() => pieces.map(({ work }) => work()));
      for (const report of reports) report();
    } catch (error) {
      if (pieces.length === 1 || error instanceof DatabaseBusyError) {
        for (const { reject } of pieces) reject(error);
      } else {
        // Everything was rolled back: running each by itself shows which one failed.
        for (const piece of pieces) perform([piece]);
      }
    }
  }

  return {
    /**
     * Runs the work in one transaction with all other work requested in the same turn of the event loop, in that order;
     * resolves once it is on disk. If it throws, only its own changes are undone. It may run again after a rollback, so it
     * must have no other effects.
     */
    transact: <Result>(work: () => Result) =>
      new Promise<Result>((resolve, reject) => {
        if (gathered.length === 0) setImmediate(flush);
        gathered.push({
          work() {
            const result = work();
            return () => resolve(result);
          },
          reject,
        });
      }),
    /** Commits everything requested so far. */
    flush,
  };
}

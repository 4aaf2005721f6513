import type { Hold } from '../../base/abort.js';
import { isFull } from '../../base/disk-room.js';
import { SafeError } from '../../base/safe-error.js';
import { claimStep } from '../../rules/state-machine.js';
import type { Claimed, SharedRight } from '../../rules/step.js';
import type { DayKeys } from '../../storage/day-keys.js';
import { readStored } from '../batches.js';
import { LedgerFullError } from '../errors.js';
import {
  createLedger,
  createReadOnlyLedger,
  type Engine,
  type Ledger,
  type ReadOnlyLedger,
} from '../ledger.js';
import { copied } from '../mappings.js';
import { notedInstants } from '../notices.js';
import {
  type Answer,
  createRenderer,
  type Dialect,
  one,
  type Query,
  type Request,
  type Store,
  sql,
  toRow,
} from '../query.js';
import { changeRun, patchRun, record } from '../run-changes.js';
import { findLocked } from '../runs.js';
import { createSealing, type Sealing } from '../sealing.js';
import { changeSteps, steps, storedStepColumns, toStep, toStoredStep } from '../steps.js';
import { createGroupCommit, type Database, type Value } from './database.js';
import { openLedgerFile, refuseUnusable, removalName, tryLock } from './ledger-file.js';

export interface SqliteLedgerOptions {
  readonly path: string;
  /** Decides which claims are abandoned. */
  readonly clock: () => number;
  /** The process, as attempts name it: see `nameProcess`. */
  readonly worker?: string | undefined;
  /** How long a claim lasts unless renewed. */
  readonly leaseMs?: number;
  /** How long it waits while another process writes; far longer than a transaction takes, by default. */
  readonly busyTimeoutMs?: number;
  /** The keys of what may hold guests' names; without them it is not encrypted. */
  readonly keys?: DayKeys | undefined;
  /** Finds rejected records by hashes under this key. */
  readonly hashKey?: string | undefined;
  /** Its file is removed once it is open: nobody else is to see it. */
  readonly isUnlinked?: true;
}

/** The ledger in a local SQLite file. */
export function createSqliteLedger(options: SqliteLedgerOptions): Ledger {
  const { path, clock, worker, leaseMs = 30_000, busyTimeoutMs, isUnlinked } = options;
  const file = openLedgerFile(path, { isReader: false, busyTimeoutMs, isUnlinked });
  const { locks, watch } = file;
  const database: Database = {
    ...file.database,
    // Nothing is recorded in a file that nobody else sees.
    transact(work) {
      watch.expectSameFile();
      return file.database.transact(work);
    },
  };
  const { store, perform } = createSqliteStore(database, options, file);
  const commits = createGroupCommit(database);
  const hold = async (name: string): Promise<Hold | undefined> => {
    const lock = refuseUnusable(path, () => tryLock(locks, name));
    return lock && { lost: new AbortController().signal, release: async () => lock.release() };
  };
  const engine = {
    ping: watch.verify,
    verify: watch.verify,
    hold,
    staleHoldMs: 0,
    claims: {
      claim: (right, step, attempt, at) =>
        commits.transact(() => perform(claim(right, step, { attempt, at, worker }, clock() + leaseMs))),
      record: (...attempted) => commits.transact(() => perform(record(...attempted))),
    },
    async close() {
      commits.flush();
      file.close();
    },
  } satisfies Engine;
  return createLedger(store, engine, clock);
}

/** The same ledger, read-only, while others work: it leaves checkpoints of the WAL to them. */
export function createSqliteReader(options: Omit<SqliteLedgerOptions, 'leaseMs' | 'worker'>): ReadOnlyLedger {
  const { path, busyTimeoutMs } = options;
  const { database, watch, close } = openLedgerFile(path, { isReader: true, busyTimeoutMs });
  const { store } = createSqliteStore(database, options);
  return createReadOnlyLedger(store, {
    ping: watch.verify,
    verify: watch.verify,
    close: async () => close(),
  });
}

/**
 * Copies the ledger in a file into another one, as it is at this moment, whatever other processes write meanwhile. The copy needs no file
 * beside it, and has no free pages, in which names that were removed might be left.
 *
 * It waits for the disk and lets nothing else happen in this process until it is done.
 *
 * @param to an empty file, at an absolute path; it is not flushed to disk
 * @throws LedgerUnusableError for a ledger that is damaged or none
 */
export function copyLedger(path: string, to: string): void {
  const { database, close } = openLedgerFile(path, { isReader: true });
  try {
    database.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`);
  } catch (error) {
    // The ledger itself is only read.
    if (error instanceof LedgerFullError)
      throw new SafeError(`the disk of the copy ${isFull}, then run the command again`, { cause: error });
    throw error;
  } finally {
    close();
  }
}

/** SQLite as a store of the ledger, and how it performs a query at once; one that changes something inside a transaction. */
export function createSqliteStore(
  database: Database,
  { clock, leaseMs = 30_000, keys, hashKey }: Omit<SqliteLedgerOptions, 'path' | 'worker'>,
  file?: ReturnType<typeof openLedgerFile>,
) {
  const dialect = createDialect({ clock, leaseMs }, createSealing(keys, hashKey));
  function perform<Result>(query: Query<Result>): Result {
    let step = query.next();
    while (!step.done) step = query.next({ ...answer(database, step.value), dialect });
    return step.value;
  }
  const inTransaction: Store['transact'] = async (query) => database.transact(() => perform(query()));
  const store: Store = {
    dialect,
    clearRemains: async (limits) => file?.clearRemains(limits),
    read: async (query) => perform(query()),
    readTogether: async (query) => database.readTogether(() => perform(query())),
    transact: inTransaction,
    // All work of a process has one connection.
    renew: inTransaction,
    erase: async (query) => database.transact(() => perform(erasing(query(), clock()))),
    async transactUnflushed(query) {
      // Whatever a power failure destroys is collected again; the commit of the plan flushes all that precedes it.
      database.exec('PRAGMA synchronous = NORMAL');
      try {
        return database.transact(() => perform(query()));
      } finally {
        database.exec('PRAGMA synchronous = FULL');
      }
    },
  };
  return { store, perform };
}

/**
 * Notes the removal of personal data in its own transaction: the file may hold its bytes until `clearRemains`. Each note differs from the
 * one before, so that a removal while the file is rewritten stays noted.
 */
function* erasing<Result>(removal: Query<Result>, at: number): Query<Result> {
  const removed = yield* removal;
  if (removed !== 0)
    yield* notedInstants.add(
      { name: removalName, at },
      sql`ON CONFLICT (name) DO UPDATE SET at = max(excluded.at, noted_instants.at + 1)`,
    );
  return removed;
}

function answer(database: Database, request: Request): Omit<Answer, 'dialect'> {
  switch (request.kind) {
    case 'describe':
      return { rows: [], changed: 0 };
    case 'read': {
      const { text, values } = render(request.statement);
      return { rows: database.all(text, ...(values as readonly Value[])).map(toRow), changed: 0 };
    }
    case 'change': {
      const { text, values } = render(request.statement);
      return { rows: [], changed: database.run(text, ...(values as readonly Value[])) };
    }
    case 'insert': {
      const columns = Object.keys(request.columns);
      const marks = columns.map(() => '?').join(', ');
      const text = `INSERT INTO ${request.table.tableName} (${columns.join(', ')}) VALUES (${marks})`;
      for (const row of request.rows) database.run(text, ...row);
      return { rows: [], changed: 0 };
    }
    case 'update': {
      const [key, ...columns] = Object.keys(request.columns);
      const set = columns.map((name) => `${name} = ?`).join(', ');
      const text = `UPDATE ${request.table.tableName} SET ${set} WHERE ${key} = ?`;
      for (const [id = null, ...cells] of request.rows) database.run(text, ...cells, id);
      return { rows: [], changed: 0 };
    }
  }
}

const render = createRenderer(
  (table) => table,
  () => '?',
);

function createDialect(
  { clock, leaseMs }: { readonly clock: () => number; readonly leaseMs: number },
  sealing: Sealing,
): Dialect {
  return {
    sealing,
    lock: sql``,
    lockOf: () => sql``,
    // 32 KB a page, so that a look-up reads little and a day of a million bookings has few pages.
    pageEntries: 4096,
    leaseEnd: () => sql`${clock() + leaseMs}`,
    isAbandoned: () => sql`coalesce(lease_until, 0) <= ${clock()}`,
    isListed: (column, list) => sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(list)}))`,
    holds: (column, bytes) => sql`instr(${column}, ${bytes}) > 0`,
    findMappings: (hotels) => sql`SELECT key AS ordinal, ${copied.names} FROM json_each(
        ${JSON.stringify(hotels.map(({ providerName, providerHotelId }) => [providerName, providerHotelId]))}
      ) CROSS JOIN ${copied} ON provider_name = value ->> 0 AND provider_hotel_id = value ->> 1`,
  };
}

export function* claim(
  right: SharedRight,
  name: string,
  {
    attempt,
    at,
    worker,
  }: { readonly attempt: number; readonly at: number; readonly worker: string | undefined },
  leaseUntil: number,
): Query<Claimed | undefined> {
  const { runId, token } = right;
  const stored = yield* findLocked(runId);
  // It names what is read: each column adds to the cost of a row.
  const row =
    stored &&
    (yield* one(
      sql`SELECT ${storedStepColumns}, stream, batch, first, not_before FROM ${steps}
        WHERE run = ${stored.number} AND name = ${name}`,
    ));
  if (!row) return undefined;
  const { number, run } = stored;
  const claimed = claimStep(run, toStoredStep(row), { token, attempt, at, worker });
  if (!claimed) return undefined;
  yield* changeSteps(number, { which: { name }, set: claimed.step }, leaseUntil);
  yield* changeRun(number, claimed.run);
  const step = toStep(runId, row);
  const lines = step.slice && (yield* readStored(number, step.slice.stream, step.slice.batch));
  return {
    step,
    attempt,
    token: run.token,
    claimedAt: at,
    mayRepeat: claimed.mayRepeat,
    run: patchRun(run, claimed.run),
    ...(lines && { lines }),
  };
}

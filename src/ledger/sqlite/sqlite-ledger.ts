import type { Hold } from '../../async/hold.js';
import type { DayKeys } from '../../keys/day-keys.js';
import { record } from '../attempts.js';
import { patchRun } from '../changes.js';
import {
  createLedger,
  createReadOnlyLedger,
  type Engine,
  type Ledger,
  type ReadOnlyLedger,
} from '../ledger.js';
import { database, one, type Query } from '../query.js';
import type { Rules } from '../rules.js';
import { changeRun } from '../run-changes.js';
import { findLocked } from '../runs.js';
import { placeOfBatch } from '../sealing.js';
import type { Claim, Claimed, SharedRight, Slice } from '../step.js';
import { changeSteps } from '../steps.js';
import { storedStepColumns, toStep, toStoredStep } from '../stored-run.js';
import type { Database } from './database.js';
import { createGroupCommit } from './group-commit.js';
import { openLedgerFile, tryLock } from './ledger-file.js';
import { createSqliteStore } from './store.js';

export interface SqliteLedgerOptions {
  readonly path: string;
  readonly rules: Rules;
  readonly clock: () => number;
  /** How long a claim lasts unless renewed. */
  readonly leaseMs?: number;
  /** The keys of what may hold guests' names; without them it is not encrypted. */
  readonly keys?: DayKeys | undefined;
}

/** The ledger in a local SQLite file. */
export function createSqliteLedger(options: SqliteLedgerOptions): Ledger {
  const { path, rules, clock, leaseMs = 30_000, keys } = options;
  const file = openLedgerFile(path, { isReader: false });
  const { database, locks } = file;
  const { store, perform } = createSqliteStore(database, { rules, clock, keys, file });
  const commits = createGroupCommit(database);
  const hold = async (name: string, busyTimeoutMs?: number): Promise<Hold | undefined> => {
    const lock = tryLock(locks, name, busyTimeoutMs);
    return lock && { lost: new AbortController().signal, release: async () => lock.release() };
  };
  const engine = {
    ping: async () => void database.get('SELECT 1'),
    hold,
    staleHoldMs: 0,
    async holdPlace(places: number) {
      for (let place = 1; place <= places; place += 1) {
        // Doesn't wait for each of them: the caller tries again when all are taken.
        const held = await hold(`place-${place}`, 0);
        if (held) return held;
      }
      return undefined;
    },
    claims: {
      claim: (right, step, attempt, at) =>
        commits.transact(() => perform(claim(right, step, attempt, at, clock() + leaseMs))),
      record: (...attempted) => commits.transact(() => perform(record(...attempted))),
      holdsClaim: async (held) => findClaimed(database, held) !== undefined,
      renewClaims: async (claims) =>
        database.transact(() => renewClaims(database, claims, clock() + leaseMs)),
    },
    async close() {
      commits.flush();
      file.close();
    },
  } satisfies Engine;
  return createLedger(store, engine, clock);
}

/** The same ledger, read-only, while others work: it leaves checkpoints of the WAL to them. */
export function createSqliteReader({
  path,
  rules,
  clock,
  keys,
}: Omit<SqliteLedgerOptions, 'leaseMs'>): ReadOnlyLedger {
  const { database, close } = openLedgerFile(path, { isReader: true });
  const { store } = createSqliteStore(database, { rules, clock, keys });
  return createReadOnlyLedger(store, {
    ping: async () => void database.get('SELECT 1'),
    close: async () => close(),
  });
}

/** Every step is claimed with this. It names what is read: each column adds to the cost of a row. */
const selectClaimedStep = `SELECT ${storedStepColumns.join(', ')}, after, form, batch, first, not_before
  FROM steps WHERE run = ? AND name = ?`;

export function* claim(
  right: SharedRight,
  name: string,
  attempt: number,
  at: number,
  leaseUntil: number,
): Query<Claimed | undefined> {
  const { rules } = yield* database();
  const { runId, token } = right;
  const stored = yield* findLocked(runId);
  const row = stored && (yield* one(selectClaimedStep, stored.number, name));
  if (!row) return undefined;
  const { number, run } = stored;
  const change = rules.claimStep(run, toStoredStep(row), { token, attempt, at });
  if (!change) return undefined;
  yield* changeSteps(number, { which: { name }, set: change.step }, leaseUntil);
  yield* changeRun(number, change.run);
  const step = toStep(runId, row);
  const lines = step.slice && (yield* findLines(number, step.slice));
  return {
    step,
    attempt,
    token: run.token,
    claimedAt: at,
    mayRepeat: change.mayRepeat,
    run: patchRun(run, change.run),
    ...(lines && { lines }),
  };
}

function* findLines(run: number, { form, batch }: Slice): Query<Buffer | undefined> {
  const { sealing } = yield* database();
  const row = yield* one(
    'SELECT lines FROM batches WHERE run = ? AND form = ? AND batch = ?',
    run,
    form,
    batch,
  );
  return row && sealing.openLines(row.lines, placeOfBatch(run, form, batch));
}

/** The row number of the claim's run, if the claim is still valid. */
export function findClaimed(database: Database, { step, attempt, token }: Claim): number | undefined {
  const row = database.get(
    `SELECT runs.number FROM runs JOIN steps ON steps.run = runs.number AND steps.name = ?
     WHERE runs.id = ? AND runs.token = ? AND steps.state = 'running' AND steps.attempts = ? AND steps.token = ?`,
    step.name,
    step.runId,
    token,
    attempt,
    token,
  );
  return row && Number(row.number);
}

/** @returns the claims that are outdated */
export function renewClaims(database: Database, claims: readonly Claim[], leaseUntil: number): Claim[] {
  return claims.filter((claim) => {
    const run = findClaimed(database, claim);
    if (run !== undefined) renewLease(database, run, claim.step.name, leaseUntil);
    return run === undefined;
  });
}

function renewLease(database: Database, run: number, step: string, until: number): void {
  database.run('UPDATE steps SET lease_until = ? WHERE run = ? AND name = ?', until, run, step);
}

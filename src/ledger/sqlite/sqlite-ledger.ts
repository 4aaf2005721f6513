import type { Hold } from '../../async/hold.js';
import type { Ledger, ReadOnlyLedger } from '../../review/ledger.js';
import type { BookingForm } from '../../review/step.js';
import { checkClaim, claim, findClaimed, isBeingPerformed, record, renewClaims } from './claims.js';
import { beginCollect, measureBatches, readBatch } from './collecting.js';
import type { Database } from './database.js';
import { nextDelivered } from './delivered.js';
import { createExportLog, createExportReader } from './export-log.js';
import { nextAffected, nextSuspects, replaceAffected } from './findings.js';
import { createGroupCommit } from './group-commit.js';
import { openLedgerFile, tryLock } from './ledger-file.js';
import { createMappingCopy, createMappingReader } from './mapping-copy.js';
import { blankGuestNames, listRunsWithNames, prune } from './retention.js';
import {
  createRun,
  findHookRun,
  listActiveRuns,
  listLatestRuns,
  listRuns,
  readLatestRun,
  readRun,
  rememberHookRun,
  reopenAbandonedSteps,
  runNumber,
  settle,
  summarise,
  takeOver,
} from './runs.js';
import { listOpenSteps, tally } from './steps.js';
import { attemptsOf, countRejects, countWarnings, listRefused, trace } from './tracing.js';

export interface SqliteLedgerOptions {
  readonly path: string;
  /** Whether a stored line has that booking reference. */
  readonly carriesReference: (line: string, form: BookingForm, reference: string) => boolean;
  readonly clock: () => number;
  /** How long a claim lasts unless renewed. */
  readonly leaseMs?: number;
}

/** The ledger in a local SQLite file. */
export function createSqliteLedger(options: SqliteLedgerOptions): Ledger {
  const { path, clock, leaseMs = 30_000 } = options;
  const { database, locks, close } = openLedgerFile(path, { isReader: false });
  const commits = createGroupCommit(database);
  const whenDayIsFree = (day: string, work: () => void) => {
    const lock = tryLock(locks, day);
    try {
      if (lock) work();
    } finally {
      lock?.release();
    }
  };
  const tryHold = (name: string, busyTimeoutMs?: number): Hold | undefined => {
    const lock = tryLock(locks, name, busyTimeoutMs);
    return lock && { lost: new AbortController().signal, release: async () => lock.release() };
  };
  return {
    ...createReader(database, options),
    staleHoldMs: 0,
    mappings: createMappingCopy(database, () => tryHold('mappings-sync')),
    exports: createExportLog(database),
    holdDay: async (day) => tryHold(day),
    async holdPlace(places) {
      for (let place = 1; place <= places; place += 1) {
        // Doesn't wait for each of them: the caller tries again when all are taken.
        const hold = tryHold(`place-${place}`, 0);
        if (hold) return hold;
      }
      return undefined;
    },
    createRun: async (run) => database.transact(() => createRun(database, run)),
    takeOver: async (runId) => database.transact(() => takeOver(database, runId)),
    settle: async (right, settlement) => database.transact(() => settle(database, right, settlement)),
    beginCollect: async (right, collect) => beginCollect(database, right, collect),
    claim: (right, step, attempt, at) =>
      commits.transact(() => claim(database, right, step, attempt, at, clock() + leaseMs)),
    record: (held, ending, at) => commits.transact(() => record(database, held, ending, at)),
    holdsClaim: async (held) => findClaimed(database, held) !== undefined,
    renewClaims: async (claims) => database.transact(() => renewClaims(database, claims, clock() + leaseMs)),
    reopenAbandoned: async (runId) =>
      database.transact(() => reopenAbandonedSteps(database, runNumber(database, runId), clock())),
    replaceAffected: async (held, affected) =>
      database.transact(() => replaceAffected(database, checkClaim(database, held).run, affected)),
    findHookRun: async (requestId) => findHookRun(database, requestId),
    rememberHookRun: async (request) => database.transact(() => rememberHookRun(database, request)),
    listRunsWithNames: async (before) => listRunsWithNames(database, before),
    blankGuestNames: async (before, blank) =>
      blankGuestNames(database, before, blank, clock(), whenDayIsFree),
    prune: async (before) => prune(database, before, clock(), whenDayIsFree),
    async close() {
      commits.flush();
      close();
    },
  };
}

/** The same ledger, read-only, while others work: it leaves checkpoints of the WAL to them. */
export function createSqliteReader(options: Omit<SqliteLedgerOptions, 'leaseMs'>): ReadOnlyLedger {
  const { database, close } = openLedgerFile(options.path, { isReader: true });
  return { ...createReader(database, options), close: async () => close() };
}

function createReader(
  database: Database,
  { carriesReference, clock }: Pick<SqliteLedgerOptions, 'carriesReference' | 'clock'>,
): Omit<ReadOnlyLedger, 'close'> {
  return {
    mappings: createMappingReader(database),
    exports: createExportReader(database),
    async ping() {
      database.get('SELECT 1');
    },
    latestRun: async (day) => readLatestRun(database, day),
    getRun: async (runId) => readRun(database, runNumber(database, runId)),
    listRuns: async ({ day, limit }) => listRuns(database, day, limit),
    listLatestRuns: async ({ from, to }) => listLatestRuns(database, from, to),
    listActiveRuns: async () => listActiveRuns(database),
    summarise: async () => summarise(database),
    listOpenSteps: async (runId, page) => listOpenSteps(database, runNumber(database, runId), page),
    isBeingPerformed: async (runId) => isBeingPerformed(database, runNumber(database, runId), clock()),
    readBatch: async (runId, form, batch) => readBatch(database, runNumber(database, runId), form, batch),
    measureBatches: async (runId, form) => measureBatches(database, runNumber(database, runId), form),
    nextDelivered: async (runId, after) => nextDelivered(database, runNumber(database, runId), after),
    nextAffected: async (runId, after = -1) => nextAffected(database, runNumber(database, runId), after),
    nextSuspects: async (runId, after) => nextSuspects(database, runNumber(database, runId), after),
    tally: async (runId) => tally(database, runNumber(database, runId)),
    countRejects: async (runId) => countRejects(database, runNumber(database, runId)),
    countWarnings: async (runId) => countWarnings(database, runNumber(database, runId)),
    listRefused: async (runId, limit) => listRefused(database, runNumber(database, runId), limit),
    trace: async (reference) =>
      trace(database, reference, (line, form) => carriesReference(line, form, reference)),
    listAttempts: async (runId, step) => attemptsOf(database, runNumber(database, runId), step),
  };
}

import { randomUUID } from 'node:crypto';
import type { Ledger, ReadOnlyLedger } from '../../review/ledger.js';
import type { BookingForm } from '../../review/step.js';
import { measureBatches, nextDelivered, readBatch } from './batches.js';
import { claim, holdsClaim, isBeingPerformed, lockClaim, renewClaims } from './claims.js';
import { beginCollect } from './collecting.js';
import { type Database, openDatabase, placeOf } from './database.js';
import { createExportLog, createExportReader } from './export-log.js';
import { nextAffected, nextSuspects, replaceAffected } from './findings.js';
import { createHolds } from './holds.js';
import { createMappingCopy, createMappingReader } from './mapping-copy.js';
import { record, recordAcceptedBatch } from './recording.js';
import { blankGuestNames, listRunsWithNames, prune } from './retention.js';
import {
  createRun,
  findHookRun,
  getRun,
  listActiveRuns,
  listLatestRuns,
  listRuns,
  readLatestRun,
  rememberHookRun,
  reopenAbandonedSteps,
  runNumber,
  settle,
  summarise,
  takeOver,
} from './runs.js';
import { isLedgerThere, migrate } from './schema.js';
import { attemptsOf, listOpenSteps, tally } from './steps.js';
import { countRejects, countWarnings, listRefused, trace } from './tracing.js';

const pingTimeoutMs = 1_900;
/** The most that the renewal of a lease may be late. */
const lateRenewalMs = 1_000;

export interface PostgresReaderOptions {
  /** postgres://user:password@host:port/database, with the parameters that libpq knows, such as sslmode. */
  readonly url: string;
  /** Whether a stored line has that booking reference. */
  readonly carriesReference: (line: string, form: BookingForm, reference: string) => boolean;
  /** Maximum number of connections. */
  readonly connections?: number;
  /** How long each call waits for an unavailable server. */
  readonly patienceMs?: number;
}

export interface PostgresLedgerOptions extends PostgresReaderOptions {
  readonly clock: () => number;
  /** How long a claim or a held day lasts unless renewed, by the database's clock. */
  readonly leaseMs?: number;
}

/**
 * The ledger in a PostgreSQL database, for any number of processes. It connects and migrates the schema on first use.
 * Characters that PostgreSQL or UTF-8 can't store become U+FFFD.
 *
 * Every operation may throw LedgerUnusableError, LedgerAwayError or LedgerFullError.
 *
 * @throws LedgerUnusableError for an address that can't be read
 */
export function createPostgresLedger(options: PostgresLedgerOptions): Ledger {
  const { clock, leaseMs = 30_000 } = options;
  const database = connect(options, (transact, place) => transact((session) => migrate(session, place)));
  const { perform, transact } = database;
  const holds = createHolds(database, leaseMs);
  const holdDay = (day: string) => holds.take(`day ${day}`);
  return {
    ...createReader(database, options.carriesReference),
    staleHoldMs: leaseMs + lateRenewalMs,
    mappings: createMappingCopy(database, () => holds.take('mappings sync')),
    exports: createExportLog(database),
    holdDay,
    async holdPlace(places) {
      for (let number = 1; number <= places; number += 1) {
        const hold = await holds.take(`place ${number}`);
        if (hold) return hold;
      }
      return undefined;
    },
    createRun: (run) => transact((session, mayBeDone) => createRun(session, run, mayBeDone)),
    takeOver: (runId) => transact((session) => takeOver(session, runId)),
    settle: (right, settlement) =>
      transact((session, mayBeDone) => settle(session, right, settlement, mayBeDone)),
    beginCollect: (right, collect) => beginCollect(database, right, collect),
    claim(right, step, attempt, at) {
      const request = { right, step, attempt, at, leaseMs, id: randomUUID() };
      return perform((session, mayBeDone) => claim(session, request, mayBeDone));
    },
    async record(held, ending, at) {
      let wasTried = false;
      const recorded = await perform(async (session, mayBeDone) => {
        wasTried = mayBeDone;
        return mayBeDone ? undefined : recordAcceptedBatch(session, held, ending, at);
      });
      return (
        recorded ?? transact((session, mayBeDone) => record(session, held, ending, at, wasTried || mayBeDone))
      );
    },
    holdsClaim: (held) => perform((session) => holdsClaim(session, held)),
    renewClaims: (claims) => transact((session) => renewClaims(session, claims, leaseMs)),
    reopenAbandoned: (runId) => transact((session) => reopenAbandonedSteps(session, runId)),
    replaceAffected: (held, affected) =>
      transact(async (session) => replaceAffected(session, await lockClaim(session, held), affected)),
    findHookRun: (requestId) => perform((session) => findHookRun(session, requestId)),
    rememberHookRun: (request) => transact((session) => rememberHookRun(session, request)),
    listRunsWithNames: (before) => perform((session) => listRunsWithNames(session, before)),
    blankGuestNames: (before, blank) => blankGuestNames(database, before, blank, clock(), holdDay),
    prune: (before) => prune(database, before, clock(), holdDay),
    async close() {
      await holds.close();
      await database.close();
    },
  };
}

/**
 * The same ledger, read-only: it creates nothing and migrates nothing. Undefined if there is no ledger yet.
 *
 * @throws LedgerUnusableError when this version can't read it, LedgerAwayError when the server doesn't answer
 */
export async function findPostgresLedger({
  waits = true,
  ...options
}: PostgresReaderOptions & {
  /** False: fail within two seconds if the server doesn't answer. */
  readonly waits?: boolean;
}): Promise<ReadOnlyLedger | undefined> {
  const database = connect(options, async () => {});
  try {
    if (!waits) await database.ping(pingTimeoutMs);
    const isThere = await database.perform((session) => isLedgerThere(session, database.place));
    if (isThere) return createReader(database, options.carriesReference);
  } catch (error) {
    await database.close();
    throw error;
  }
  await database.close();
  return undefined;
}

function connect(
  { url, connections = 10, patienceMs = 30_000 }: PostgresReaderOptions,
  prepare: (transact: Database['transact'], place: string) => Promise<void>,
): Database {
  const place = placeOf(url);
  return openDatabase({
    ...{ url, place, connections, patienceMs },
    prepare: (transact) => prepare(transact, place),
  });
}

function createReader(
  database: Database,
  carriesReference: PostgresReaderOptions['carriesReference'],
): ReadOnlyLedger {
  const { perform, snapshot } = database;
  return {
    mappings: createMappingReader(database),
    exports: createExportReader(database),
    ping: () => database.ping(pingTimeoutMs),
    latestRun: (day) => perform((session) => readLatestRun(session, day)),
    getRun: (runId) => perform((session) => getRun(session, runId)),
    listRuns: (options) => perform((session) => listRuns(session, options)),
    listLatestRuns: (range) => perform((session) => listLatestRuns(session, range)),
    listActiveRuns: () => perform(listActiveRuns),
    summarise: () => perform(summarise),
    listOpenSteps: (runId, page) => perform((session) => listOpenSteps(session, runId, page)),
    isBeingPerformed: (runId) => perform((session) => isBeingPerformed(session, runId)),
    readBatch: (runId, form, batch) => perform((session) => readBatch(session, runId, form, batch)),
    measureBatches: (runId, form) => perform((session) => measureBatches(session, runId, form)),
    nextDelivered: (runId, after) => snapshot((session) => nextDelivered(session, runId, after)),
    nextAffected: (runId, after = -1) => snapshot((session) => nextAffected(session, runId, after)),
    nextSuspects: (runId, after) => snapshot((session) => nextSuspects(session, runId, after)),
    tally: (runId) => perform((session) => tally(session, runId)),
    countRejects: (runId) => perform((session) => countRejects(session, runId)),
    countWarnings: (runId) => perform((session) => countWarnings(session, runId)),
    listRefused: (runId, limit) => snapshot((session) => listRefused(session, runId, limit)),
    trace: (reference) =>
      snapshot((session) =>
        trace(session, reference, (line, form) => carriesReference(line, form, reference)),
      ),
    listAttempts: (runId, step) =>
      perform(async (session) => attemptsOf(session, await runNumber(session, runId), step)),
    close: () => database.close(),
  };
}

import { randomUUID } from 'node:crypto';
import type { Ledger } from '../../review/ledger.js';
import type { BookingForm } from '../../review/step.js';
import { placeOf } from './address.js';
import { nextAffected, replaceAffected } from './affected.js';
import { measureBatches, readBatch } from './batches.js';
import { claim, holdsClaim, isBeingPerformed, lockClaim, renewClaims } from './claims.js';
import { beginCollect } from './collecting.js';
import { openDatabase } from './database.js';
import { nextDelivered } from './delivered.js';
import { createExportLog } from './export-log.js';
import { createHolds } from './holds.js';
import { findHookRun, rememberHookRun } from './hook-requests.js';
import { createMappingCopy } from './mapping-copy.js';
import { createOnlooker } from './onlooking.js';
import { record, recordAcceptedBatch } from './recording.js';
import { blankGuestNames, listRunsWithNames, prune } from './retention.js';
import {
  createRun,
  getRun,
  listActiveRuns,
  listLatestRuns,
  listRuns,
  readLatestRun,
  reopenAbandonedSteps,
  runNumber,
  settle,
  summarise,
  takeOver,
} from './runs.js';
import { isLedgerThere, migrate } from './schema.js';
import { attemptsOf, listOpenSteps, tally } from './steps.js';
import { nextSuspects } from './suspects.js';
import { countRejects, countWarnings, listRefused, trace } from './tracing.js';

const pingTimeoutMs = 1_900;
/** By how much the renewal of a lease can be late. */
const lateRenewalMs = 1_000;

export interface PostgresLedgerOptions {
  /** postgres://user:password@host:port/database, with the parameters that libpq knows, such as sslmode. */
  readonly url: string;
  /** Tells whether a stored line is of that booking reference. */
  readonly carriesReference: (line: string, form: BookingForm, reference: string) => boolean;
  readonly clock: () => number;
  /** How long a claim or a held day lasts unless it is renewed, by the database's clock. */
  readonly leaseMs?: number;
  /** How many connections it opens at most. */
  readonly connections?: number;
  /** For how long a server that is away is waited for, in each call. */
  readonly patienceMs?: number;
  /** For looking on while others work: it makes and migrates nothing, and reads as empty where nothing is yet. */
  readonly isOnlooker?: boolean;
}

/**
 * The ledger in a PostgreSQL database, for as many processes as there are. It connects, and brings the schema up to
 * date, when it is first used. Characters that PostgreSQL or UTF-8 can't hold are kept as U+FFFD.
 *
 * Each operation throws LedgerUnusableError, LedgerAwayError or LedgerFullError where that is what's wrong.
 *
 * @throws LedgerUnusableError for an address that can't be read
 */
export function createPostgresLedger({
  url,
  carriesReference,
  clock,
  leaseMs = 30_000,
  connections = 10,
  patienceMs = 30_000,
  isOnlooker = false,
}: PostgresLedgerOptions): Ledger {
  const place = placeOf(url);
  const database = openDatabase({
    url,
    place,
    connections,
    patienceMs,
    prepare: async (transact) => {
      if (!isOnlooker) await transact((session) => migrate(session, place));
    },
  });
  const { perform, transact, snapshot } = database;
  const holds = createHolds(database, leaseMs);
  const holdDay = (day: string) => holds.take(`day ${day}`);

  const ledger: Ledger = {
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
    ping: () => database.ping(pingTimeoutMs),
    latestRun: (day) => perform((session) => readLatestRun(session, day)),
    getRun: (runId) => perform((session) => getRun(session, runId)),
    listRuns: (options) => perform((session) => listRuns(session, options)),
    listLatestRuns: (range) => perform((session) => listLatestRuns(session, range)),
    listActiveRuns: () => perform(listActiveRuns),
    summarise: () => perform(summarise),
    createRun: (run) => transact((session, mayBeDone) => createRun(session, run, mayBeDone)),
    takeOver: (runId) => transact((session) => takeOver(session, runId)),
    settle: (right, settlement) =>
      transact((session, mayBeDone) => settle(session, right, settlement, mayBeDone)),
    beginCollect: (right, collect) => beginCollect(database, right, collect),
    listOpenSteps: (runId, page) => perform((session) => listOpenSteps(session, runId, page)),
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
    isBeingPerformed: (runId) => perform((session) => isBeingPerformed(session, runId)),
    readBatch: (runId, form, batch) => perform((session) => readBatch(session, runId, form, batch)),
    measureBatches: (runId, form) => perform((session) => measureBatches(session, runId, form)),
    replaceAffected: (held, affected) =>
      transact(async (session) => replaceAffected(session, await lockClaim(session, held), affected)),
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
  if (!isOnlooker) return ledger;

  let isKnownThere = false;
  return createOnlooker(ledger, async () => {
    isKnownThere ||= await perform((session) => isLedgerThere(session, place));
    return isKnownThere;
  });
}

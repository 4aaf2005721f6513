import type { Ledger } from '../../review/ledger.js';
import { emptyCopy } from './mapping-copy.js';
import { emptySummary, noSuchRun } from './runs.js';

/**
 * A ledger for looking on: it makes nothing, and reads as empty where nobody has made a ledger yet.
 *
 * @param isThere tells whether there is one by now
 */
export function createOnlooker(ledger: Ledger, isThere: () => Promise<boolean>): Ledger {
  const orElse =
    <Asked extends unknown[], Answer>(
      read: (...asked: Asked) => Promise<Answer>,
      empty: (...asked: Asked) => Answer,
    ) =>
    async (...asked: Asked) =>
      (await isThere()) ? read(...asked) : empty(...asked);
  const none = () => [];
  const noRun = (runId: string) => {
    throw noSuchRun(runId);
  };
  return {
    ...ledger,
    mappings: {
      ...ledger.mappings,
      latestSync: orElse(ledger.mappings.latestSync, () => undefined),
      find: orElse(ledger.mappings.find, () => undefined),
      lookUp: orElse(ledger.mappings.lookUp, (hotels) => hotels.map(() => undefined)),
      listMappings: orElse(ledger.mappings.listMappings, none),
      summarise: orElse(ledger.mappings.summarise, () => emptyCopy),
      isEmpty: orElse(ledger.mappings.isEmpty, () => true),
      listNewHotels: orElse(ledger.mappings.listNewHotels, none),
    },
    exports: {
      ...ledger.exports,
      latestRequest: orElse(ledger.exports.latestRequest, () => undefined),
      latestFetched: orElse(ledger.exports.latestFetched, () => undefined),
    },
    latestRun: orElse(ledger.latestRun, () => undefined),
    getRun: orElse(ledger.getRun, noRun),
    listRuns: orElse(ledger.listRuns, none),
    listLatestRuns: orElse(ledger.listLatestRuns, none),
    listActiveRuns: orElse(ledger.listActiveRuns, none),
    summarise: orElse(ledger.summarise, () => emptySummary),
    listOpenSteps: orElse(ledger.listOpenSteps, noRun),
    isBeingPerformed: orElse(ledger.isBeingPerformed, () => false),
    readBatch: orElse(ledger.readBatch, noRun),
    measureBatches: orElse(ledger.measureBatches, noRun),
    nextDelivered: orElse(ledger.nextDelivered, noRun),
    nextAffected: orElse(ledger.nextAffected, noRun),
    nextSuspects: orElse(ledger.nextSuspects, noRun),
    tally: orElse(ledger.tally, noRun),
    countRejects: orElse(ledger.countRejects, noRun),
    countWarnings: orElse(ledger.countWarnings, noRun),
    listRefused: orElse(ledger.listRefused, noRun),
    trace: orElse(ledger.trace, none),
    listAttempts: orElse(ledger.listAttempts, noRun),
    findHookRun: orElse(ledger.findHookRun, () => undefined),
    listRunsWithNames: orElse(ledger.listRunsWithNames, none),
  };
}

import type { Hold } from '../base/hold.js';
import type { Decide } from '../rules/changes.js';
import type { Claim, Claimed, Outcome, Recorded, Right, SharedRight } from '../rules/step.js';
import { createActionRecorder, createAuditTrail } from './audit.js';
import {
  findExtra,
  measureBatches,
  nextDelivered,
  readBatch,
  readBatches,
  readExtra,
  sampleBatches,
} from './batches.js';
import { createCanaries, createCanaryReader } from './canaries.js';
import { createCaseReader, createCases } from './cases.js';
import { beginCollect, type CollectStart } from './collecting.js';
import { listEverIncorrect, listJudgedOfBatch, nextJudged, nextSuspects } from './findings.js';
import { createFollowedReader, createFollowedRuns } from './followed-runs.js';
import { createErasures, createGuestReader, createRetention, type HoldDay, nameOfHeldDay } from './guests.js';
import { createHotelReader, createHotels } from './hotels.js';
import { leaveCopiesBehind, readIdentity } from './identity.js';
import { createCaseLists } from './listed-cases.js';
import { createMailReader, createMails } from './mails.js';
import { beginSync, restartSync, storePage } from './mapping-syncs.js';
import {
  createExportLog,
  createExportReader,
  createMappingReader,
  createWatch,
  markNewHotelsTold,
} from './mappings.js';
import { createNoticeReader, createNotices } from './notices.js';
import { bind, type Store, stopping } from './query.js';
import { createRejectReader } from './rejects.js';
import { createRunChanges, reopenAbandoned } from './run-changes.js';
import { createRunReader } from './runs.js';
import { createStays } from './stays.js';
import { createStepReader, tally } from './steps.js';
import { listOutcomes, listStandings, listSuperseded, storeOutcome } from './stored-outcomes.js';
import { listRefused, listTimes, readTraces, trace } from './tracing.js';
import { createWantedDays, createWantedReader } from './wanted-days.js';

/**
 * The database with every run, step and booking and its state: the source of truth. (Design 3.)
 *
 * Bookings are stored by batch, in the bytes in which they are sent. All instants are epoch milliseconds. With PostgreSQL
 * every operation may throw LedgerUnusableError, LedgerAwayError or LedgerFullError.
 */
export interface Ledger extends ReturnType<typeof createLedger> {}

/** A read-only ledger, for looking at runs while other processes work. That somebody looked is recorded all the same. */
export interface ReadOnlyLedger extends ReturnType<typeof createReadOnlyLedger> {}

/** How the process is connected to its database. */
export interface Connection {
  /** Rejects if the ledger can't be reached; settles within two seconds either way. */
  ping(): Promise<void>;
  /** @throws LedgerUnusableError once the file is not the one that was opened; a server is asked with each query */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** What each database does in its own way: rights that end with their owner, and the claims of steps. */
export interface Engine extends Connection {
  /** Takes an exclusive right without waiting; undefined if a live process holds it. */
  hold(name: string): Promise<Hold | undefined>;
  /** How long a hold can outlive its owner; 0 if the kernel holds the lock, which ends with its owner. */
  readonly staleHoldMs: number;
  readonly claims: Claims;
}

/** What performing a step needs. */
export interface Claims {
  /**
   * Claims a step, and returns it with its run and its bookings. Without a token it uses the current one: processes that
   * share a run may perform whatever step they are handed.
   *
   * Undefined if the step is not open, the attempt is stale, or the run is no longer ours, active or in this ledger.
   */
  claim(right: SharedRight, step: string, attempt: number, at: number): Promise<Claimed | undefined>;
  /** Records what an attempt found, and applies what is decided about it. @throws FencedError under an outdated claim. */
  record(claim: Claimed, outcome: Outcome, at: number, decide: Decide): Promise<Recorded>;
  /** False once the claim is outdated: another process has taken over the run, or just the step. */
  holdsClaim(claim: Claim): Promise<boolean>;
  /** Renews claims for another lease. Returns those that are outdated. */
  renewClaims(claims: readonly Claim[]): Promise<Claim[]>;
}

export function createReadOnlyLedger(store: Store, connection: Connection) {
  const { read, readTogether } = store;
  const { ping, verify, close } = connection;
  return {
    ping,
    verify,
    close,
    /** The same ledger for somebody who may leave: see `stopping`. */
    stoppedBy: (signal: AbortSignal): ReadOnlyLedger =>
      createReadOnlyLedger(stopping(store, signal), connection),
    ...bind(readTogether, { identify: readIdentity }),
    runs: { ...createRunReader(store), ...bind(read, { tally }) },
    wanted: createWantedReader(store),
    days: bind(read, { listOutcomes, listStandings, listSuperseded }),
    steps: { ...createStepReader(store), ...bind(read, { listTimes }) },
    bookings: {
      ...bind(read, { readBatch, readBatches, measureBatches, sampleBatches }),
      ...bind(readTogether, { nextDelivered, nextJudged, nextSuspects, listRefused, trace }),
      ...bind(readTogether, { listEverIncorrect, listJudgedOfBatch }),
      ...bind(readTogether, { readExtra }),
      readTraces: (reference: string) => readTraces(store, reference),
      /** The extra values of the bookings with these references, each of the newest run that has them. */
      findExtra: (references: readonly string[]) => findExtra(store, references),
    },
    rejects: createRejectReader(store),
    canaries: createCanaryReader(store),
    guests: createGuestReader(store),
    mappings: createMappingReader(store),
    hotels: createHotelReader(store),
    exports: createExportReader(store),
    audit: createActionRecorder(store),
    cases: { ...createCaseReader(store), ...createCaseLists(store), ...createFollowedReader(store) },
    mails: createMailReader(store),
    notices: createNoticeReader(store),
  };
}

export function createLedger(store: Store, engine: Engine, clock: () => number) {
  const { transact } = store;
  const reader = createReadOnlyLedger(store, engine);
  const holdDay: HoldDay = (day) => engine.hold(nameOfHeldDay(day));
  return {
    ...reader,
    stoppedBy: (signal: AbortSignal): Ledger => createLedger(stopping(store, signal), engine, clock),
    ...bind(transact, { leaveCopiesBehind }),
    holds: {
      staleMs: engine.staleHoldMs,
      day: holdDay,
      /** Takes one of that many permits for concurrent runs, over all processes; undefined while all are taken. */
      async permit(permits: number): Promise<Hold | undefined> {
        for (let number = 1; number <= permits; number += 1) {
          const hold = await engine.hold(`permit-${number}`);
          if (hold) return hold;
        }
        return undefined;
      },
    },
    runs: { ...reader.runs, ...createRunChanges(store, clock) },
    wanted: createWantedDays(store),
    days: { ...reader.days, ...bind(transact, { storeOutcome }) },
    steps: {
      ...reader.steps,
      ...engine.claims,
      ...bind(transact, { reopenAbandoned }),
    },
    bookings: {
      ...reader.bookings,
      beginCollect: (right: Right, collect: CollectStart) => beginCollect(store, right, collect),
    },
    canaries: createCanaries(store),
    guests: {
      ...reader.guests,
      ...createErasures(store),
      ...createRetention(store, clock, holdDay),
    },
    stays: createStays(store),
    mappings: {
      ...reader.mappings,
      /** Takes the exclusive right to sync; undefined while a live process holds it. */
      holdSync: () => engine.hold('mappings-sync'),
      ...bind(transact, { beginSync, storePage, restartSync, markNewHotelsTold }),
    },
    hotels: createHotels(store, () => engine.hold('hotels-load')),
    exports: createExportLog(store),
    audit: createAuditTrail(store),
    cases: { ...reader.cases, ...createCases(store), ...createFollowedRuns(store) },
    watch: createWatch(store),
    mails: createMails(store),
    notices: createNotices(store),
  };
}

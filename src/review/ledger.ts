import type { Hold } from '../async/hold.js';
import type { ExportLog, ExportReader } from '../mappings/export/export-log.js';
import type { MappingCopy, MappingReader } from '../mappings/mapping-copy.js';
import type { Collecting, DeliveredBookings } from './collected.js';
import type { AffectedPlaces, AttemptReader, History, RejectReader, SuspectReader } from './history.js';
import type { DeliveryKind, Run, RunFailure, RunState, Trigger } from './run.js';
import type { BookingForm, Claim, Claimed, Step, StepEnding } from './step.js';

/**
 * The database that knows every run, step and booking and its state: the truth. (Design 3.)
 *
 * It keeps bookings by batch, in the bytes in which they are sent. All instants are epoch milliseconds. Its
 * users depend on the small ports below rather than on all of it.
 */
export interface Ledger
  extends ReadOnlyLedger,
    RunWriter,
    Claims,
    AffectedWriter,
    Collecting,
    DayHolds,
    PlaceHolds,
    HookRequests,
    Retention {
  readonly mappings: MappingCopy;
  readonly exports: ExportLog;
}

/** A ledger for looking back while others work: it changes nothing. */
export interface ReadOnlyLedger
  extends RunReader,
    DayOverview,
    StepReader,
    AttemptReader,
    BatchReader,
    DeliveredBookings,
    RejectReader,
    History,
    SuspectReader {
  readonly mappings: MappingReader;
  readonly exports: ExportReader;
  /** Rejects when the ledger can't be reached now; settles within two seconds either way. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RunReader extends RunLister {
  latestRun(day: string): Promise<Run | undefined>;
  /** @throws RangeError for a run that does not exist. */
  getRun(runId: string): Promise<Run>;
  /** Oldest day first. */
  listActiveRuns(): Promise<Run[]>;
}

export interface RunLister {
  /** Newest day first, and within a day the newest run first. */
  listRuns(options: { readonly day?: string; readonly limit: number }): Promise<Run[]>;
}

/** Days at a glance. */
export interface DayOverview {
  /** The newest run of each day from `from` to `to` that has one, oldest day first. */
  listLatestRuns(range: { readonly from: string; readonly to: string }): Promise<Run[]>;
  summarise(): Promise<LedgerSummary>;
}

/** What state-machine.ts decides about a whole run. */
export interface RunWriter {
  /** Creates a run; `replaces` is marked cancelled in the same transaction and can't be written to any more. */
  createRun(run: NewRun): Promise<Run>;
  /** Makes a run one's own: see `takeOverSteps`. */
  takeOver(runId: string): Promise<Run>;
  /** Ends a run by compare-and-set. False when the run is not active any more. @throws FencedError */
  settle(right: Right, settlement: Settlement): Promise<boolean>;
  /**
   * Opens the steps of a run whose claim was not renewed for a lease: their owner is dead or frozen, and what it was
   * doing may have reached the service. Returns how many.
   */
  reopenAbandoned(runId: string): Promise<number>;
}

export interface StepReader {
  /** Steps that may be queued, in the plan's order, a page at a time. */
  listOpenSteps(
    runId: string,
    page: { readonly after?: StepCursor; readonly limit: number },
  ): Promise<OpenStep[]>;
  /** True when a step of the run is performed under a claim that is renewed. */
  isBeingPerformed(runId: string): Promise<boolean>;
  /** Counts again from steps and stored batches, without the counters: the proof that the sums add up. */
  tally(runId: string): Promise<Tally>;
}

export interface BatchReader {
  readBatch(runId: string, form: BookingForm, batch: number): Promise<Buffer>;
  /** How many batches and bookings are kept in that form. */
  measureBatches(runId: string, form: BookingForm): Promise<{ batches: number; bookings: number }>;
}

/** What performing a step needs. */
export interface Claims extends ClaimRenewal, ClaimCheck {
  /**
   * Takes a step, and returns it with its run and its bookings. Without a token it is taken under the current one:
   * processes that share a run have no other right to it than that its steps are handed to them.
   *
   * Undefined when the step is not open, the attempt is stale, or the run is no longer ours, active or of this ledger.
   */
  claim(right: Right | SharedRight, step: string, attempt: number, at: number): Promise<Claimed | undefined>;
  /** Records what an attempt came to: see `recordEnding`. @throws FencedError under an outdated claim. */
  record(claim: Claim, ending: StepEnding, at: number): Promise<Recorded>;
}

export interface ClaimRenewal {
  /** Keeps claims for another lease. Returns those that are outdated. */
  renewClaims(claims: readonly Claim[]): Promise<Claim[]>;
}

export interface ClaimCheck {
  /** False once the claim is outdated: somebody else has taken over the run, or the step alone. */
  holdsClaim(claim: Claim): Promise<boolean>;
}

export interface AffectedWriter {
  /** Says which bookings of the file are affected, in place of what was said before. @throws FencedError */
  replaceAffected(claim: Claim, affected: readonly AffectedPlaces[]): Promise<void>;
}

export interface DayHolds {
  /** How long a hold can outlast an owner that died; 0 where the kernel holds it, which ends with its owner. */
  readonly staleHoldMs: number;
  /** Takes the sole right to work on a day, now or not at all; undefined when somebody alive holds it. */
  holdDay(day: string): Promise<Hold | undefined>;
}

export interface PlaceHolds {
  /** Takes one of that many places for concurrent runs, over all processes; undefined while all are taken. */
  holdPlace(places: number): Promise<Hold | undefined>;
}

export interface HookRequests {
  /** The run that a request of the end-of-day hook was answered with. */
  findHookRun(requestId: string): Promise<string | undefined>;
  /** Remembers it for a month; one that is remembered already stays as it is. */
  rememberHookRun(request: {
    readonly id: string;
    readonly runId: string;
    readonly at: number;
  }): Promise<void>;
}

/** What ends the keeping of guests' names and of whole days. */
export interface Retention {
  /** Ended runs of days before `day` whose guests' names are not blanked yet. */
  listRunsWithNames(before: string): Promise<Run[]>;
  /** Rewrites the bookings of days before `day`, once, and removes the service's words: the guests' names go. */
  blankGuestNames(before: string, blank: (lines: Buffer, form: BookingForm) => Buffer): Promise<number>;
  /** Removes bookings, steps and verdicts of days before `day`; the rows of the runs stay. */
  prune(before: string): Promise<number>;
}

/** Names a run and the token under which one writes to it. */
export interface Right {
  readonly runId: string;
  readonly token: number;
}

/** Names a run that several processes work on. */
export interface SharedRight {
  readonly runId: string;
  readonly token?: undefined;
}

export interface LedgerSummary {
  readonly runsByState: Readonly<Record<RunState, number>>;
  /** The first day that this ledger knows. */
  readonly firstDay?: string;
  /** The last day that has a run that succeeded. */
  readonly lastGoodDay?: string;
}

export interface NewRun {
  readonly id: string;
  readonly day: string;
  readonly delivery: DeliveryKind;
  readonly trigger: Trigger;
  readonly reason?: string;
  readonly startedAt: number;
  readonly replaces?: string;
  /** It sends only what the other runs of the day have not delivered. */
  readonly topsUp?: boolean;
}

export interface Settlement {
  readonly state: Exclude<RunState, 'collecting' | 'delivering'>;
  readonly failure?: RunFailure;
  readonly at: number;
}

export interface StepCursor {
  readonly position: number;
  readonly name: string;
}

export interface OpenStep extends StepCursor {
  /** The attempt that a claim would be for. */
  readonly attempt: number;
  readonly notBefore?: number;
}

/** What decides about a step, as the ledger keeps it. */
export interface StoredStep
  extends Pick<Step, 'name' | 'kind' | 'state' | 'bookings' | 'attempts' | 'tries' | 'waits'> {
  /** Its place in the plan; halves share the place of the step they replace. */
  readonly position: number;
  /** The token of its last claim. */
  readonly token?: number;
  /** How many of its bookings count as sent again. */
  readonly repeated: number;
  /** Its last attempt ended without a clear answer: claimed again, its bookings count as repeated. */
  readonly outcomeUnknown: boolean;
}

export interface Recorded {
  readonly run: Run;
  /** Steps that this ending opened: halves, a successor, or the step itself again, also where it was interrupted. */
  readonly opened: readonly OpenStep[];
  /** True when this ending ended the run, which is so for one of all processes that work on it. */
  readonly settled: boolean;
}

export interface Tally {
  readonly stored: number;
  readonly delivered: number;
  readonly refused: number;
  readonly pending: number;
  readonly openSteps: number;
  readonly failedSteps: number;
  readonly overdueSteps: number;
  /** Of the failed steps the first in the plan's order, and how its last attempt ended. */
  readonly firstFailed?: { readonly name: string; readonly code: string };
}

import { SafeError } from '../text/safe-error.js';

/** A write under an outdated token: somebody else has taken the run over. */
export class FencedError extends SafeError {
  override readonly name = 'FencedError';
  constructor(readonly runId: string) {
    super(`run ${runId} was taken over by another process; this one stops writing to it`);
  }
}

/** The ledger can't be used as configured; somebody has to fix that first. */
export class LedgerUnusableError extends SafeError {
  override readonly name = 'LedgerUnusableError';
  constructor(
    /** The path of its file; of a database elsewhere its address, without a password. */
    readonly place: string,
    /** What was expected, what there is, and what to do. */
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`the ledger ${place} cannot be used: ${reason}`, options);
  }
}

/** The ledger doesn't answer. What was written stays, and the next run resumes from there. */
export class LedgerAwayError extends SafeError {
  override readonly name = 'LedgerAwayError';
  constructor(
    /** Its address, without a password. */
    readonly place: string,
    options?: ErrorOptions,
  ) {
    super(
      `the ledger ${place} does not answer: check that it is running and reachable, then run the command again`,
      options,
    );
  }
}

/** The disk is full. What was written stays, and the next run resumes from there. */
export class LedgerFullError extends SafeError {
  override readonly name = 'LedgerFullError';
  constructor(
    /** The path of its file. */
    readonly place: string,
    options?: ErrorOptions,
  ) {
    super(`the disk of the ledger ${place} is full: free some space, then run the command again`, options);
  }
}

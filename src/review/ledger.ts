import type { Hold } from '../async/hold.js';
import type { BusinessDay } from '../booking/business-day.js';
import type { ExportLog, ExportReader } from '../mappings/export/export-log.js';
import type { MappingCopy, MappingReader } from '../mappings/mapping-copy.js';
import { SafeError } from '../text/safe-error.js';
import type { Collecting, DeliveredBookings } from './collected.js';
import type { AttemptReader, History, RejectLister, RejectReader, SuspectReader } from './history.js';
import type { DeliveryKind, Run, RunFailure, RunState, Trigger } from './run.js';
import type { BookingForm, Claim, Claimed, Step, StepEnding } from './step.js';
import type { VolumeHistory } from './volume.js';

/**
 * The database with every run, step and booking and its state: the source of truth. (Design 3.)
 *
 * Bookings are stored by batch, in the bytes in which they are sent. All instants are epoch milliseconds. Its users
 * depend on the small ports below rather than on all of it.
 */
export interface Ledger
  extends ReadOnlyLedger,
    RunWriter,
    Claims,
    Collecting,
    DayHolds,
    SlotHolds,
    HookRequests,
    Retention {
  readonly mappings: MappingCopy;
  readonly exports: ExportLog;
}

/** A read-only ledger, for looking at runs while other processes work. */
export interface ReadOnlyLedger
  extends RunReader,
    DayOverview,
    StepReader,
    WaitReader,
    AttemptReader,
    BatchReader,
    DeliveredBookings,
    VolumeHistory,
    RejectReader,
    RejectLister,
    History,
    SuspectReader {
  readonly mappings: MappingReader;
  readonly exports: ExportReader;
  /** Rejects if the ledger can't be reached; settles within two seconds either way. */
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

/** An overview of days. */
export interface DayOverview {
  /** The newest run of each day from `from` to `to` that has one, oldest day first. */
  listLatestRuns(range: { readonly from: string; readonly to: string }): Promise<Run[]>;
  /** @param today the day it is now in the account's zone: no later one is a good day */
  summarise(today: BusinessDay): Promise<LedgerSummary>;
}

/** What run-transitions.ts decides about a whole run. */
export interface RunWriter {
  /** Creates a run; `replaces` is marked cancelled in the same transaction and can't be written to any more. */
  createRun(run: NewRun): Promise<Run>;
  /** Cancels an unfinished run; false if it has ended otherwise. Whoever works on it can't write to it any more. */
  abandon(runId: string, abandonment: Abandonment): Promise<boolean>;
  /** Takes a run over: see `takeOverSteps`. What `asked` holds replaces what the run was started with. */
  takeOver(runId: string, asked?: CollectRequest): Promise<Run>;
  /** Replaces why a run failed; false unless it failed with the code `before`. */
  replaceFailure(
    runId: string,
    change: { readonly before: string | undefined; readonly failure: RunFailure },
  ): Promise<boolean>;
  /** Ends a run by compare-and-set. False if the run is no longer active. @throws FencedError */
  settle(right: Right, settlement: Settlement): Promise<boolean>;
  /**
   * Reopens the run's steps whose claim was not renewed for one lease: their owner is dead or frozen, and its call may
   * have reached the service. Returns how many.
   */
  reopenAbandoned(runId: string): Promise<number>;
}

export interface StepReader {
  /** Steps that may be queued, in plan order, page by page. */
  listOpenSteps(
    runId: string,
    page: { readonly after?: StepCursor; readonly limit: number },
  ): Promise<OpenStep[]>;
  /** Whether a step of the run is being performed under a valid claim. */
  isBeingPerformed(runId: string): Promise<boolean>;
  /** Counts from steps and stored batches instead of the counters, to prove that the sums add up. */
  tally(runId: string): Promise<Tally>;
}

export interface WaitReader {
  /** What the run waits for, if all its open steps wait: the step that is due first. */
  findWait(runId: string, now: number): Promise<Wait | undefined>;
}

export interface Wait {
  readonly step: string;
  readonly until: number;
  /** Why: how the step's last attempt ended. */
  readonly code: string;
}

export interface BatchReader {
  readBatch(runId: string, form: BookingForm, batch: number): Promise<Buffer>;
  /** How many batches and bookings are stored in that form. */
  measureBatches(runId: string, form: BookingForm): Promise<{ batches: number; bookings: number }>;
}

/** What performing a step needs. */
export interface Claims extends ClaimRenewal, ClaimCheck {
  /**
   * Claims a step, and returns it with its run and its bookings. Without a token it uses the current one: processes that
   * share a run may perform whatever step they are handed.
   *
   * Undefined if the step is not open, the attempt is stale, or the run is no longer ours, active or in this ledger.
   */
  claim(right: Right | SharedRight, step: string, attempt: number, at: number): Promise<Claimed | undefined>;
  /** Records the ending of an attempt: see `recordEnding`. @throws FencedError under an outdated claim. */
  record(claim: Claim, ending: StepEnding, at: number): Promise<Recorded>;
}

export interface ClaimRenewal {
  /** Renews claims for another lease. Returns those that are outdated. */
  renewClaims(claims: readonly Claim[]): Promise<Claim[]>;
}

export interface ClaimCheck {
  /** False once the claim is outdated: another process has taken over the run, or just the step. */
  holdsClaim(claim: Claim): Promise<boolean>;
}

export interface DayHolds {
  /** How long a hold can outlive its owner; 0 if the kernel holds the lock, which ends with its owner. */
  readonly staleHoldMs: number;
  /** Takes the exclusive right to work on a day, without waiting; undefined if a live process holds it. */
  holdDay(day: string): Promise<Hold | undefined>;
}

export interface SlotHolds {
  /** Takes one of that many slots for concurrent runs, over all processes; undefined while all are taken. */
  holdSlot(places: number): Promise<Hold | undefined>;
}

export interface HookRequests {
  /** The run that was returned for a request of the end-of-day hook. */
  findHookRun(requestId: string): Promise<string | undefined>;
  /** Remembers it for a month; one that is already remembered does not change. */
  rememberHookRun(request: {
    readonly id: string;
    readonly runId: string;
    readonly at: number;
  }): Promise<void>;
}

/** Blanks guest names and removes old days. */
export interface Retention {
  /** Ended runs of days before `before` whose guest names are not blanked yet. */
  listRunsWithNames(before: string): Promise<Run[]>;
  /** Rewrites the bookings of days before `before` without guest names, once, and removes the service's own words. */
  blankGuestNames(before: string, blank: (lines: Buffer, form: BookingForm) => Buffer): Promise<number>;
  /** Removes bookings, steps and verdicts of days before `before`; the rows of the runs stay. */
  prune(before: string): Promise<number>;
}

/** The right to write to a run: its id and a token. */
export interface Right {
  readonly runId: string;
  readonly token: number;
}

/** The right to a run that several processes work on. */
export interface SharedRight {
  readonly runId: string;
  readonly token?: undefined;
}

export interface LedgerSummary {
  readonly runsByState: Readonly<Record<RunState, number>>;
  /** The first day in the ledger. */
  readonly firstDay?: string;
  /** The last day with a successful run that was collected after the day had ended. */
  readonly lastGoodDay?: string;
}

/** What whoever starts or resumes a run says about its day. */
export interface CollectRequest {
  /** Far fewer bookings than usual are right this time. */
  readonly acceptsVolume?: boolean | undefined;
  /** How many records the source should hold. */
  readonly expected?: number | undefined;
}

export interface NewRun extends CollectRequest {
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

export interface Abandonment {
  readonly reason: string;
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

/** What decides about a step, as stored in the ledger. */
export interface StoredStep
  extends Pick<Step, 'name' | 'kind' | 'state' | 'bookings' | 'attempts' | 'tries' | 'waits'> {
  /** Its place in the plan; halves share the place of the step they replace. */
  readonly position: number;
  /** The token of its last claim. */
  readonly token?: number;
  /** How many of its bookings count as sent again. */
  readonly repeated: number;
  /** Its last attempt ended without a clear answer: if it is claimed again, its bookings count as repeated. */
  readonly outcomeUnknown: boolean;
}

/** What recording an ending led to: no property of the attempt, but the run's new state and the steps to queue. */
export interface Recorded {
  readonly run: Run;
  /** Steps that this ending opened: halves, a successor, or the step itself, for example after an interruption. */
  readonly opened: readonly OpenStep[];
  /** True if this ending ended the run; of all processes that work on it, exactly one gets true. */
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
  /** The first failed step in plan order, and the code of its last attempt. */
  readonly firstFailed?: { readonly name: string; readonly code: string };
}

/** A write under an outdated token: another process has taken the run over. */
export class FencedError extends SafeError {
  override readonly name = 'FencedError';
  constructor(readonly runId: string) {
    super(`run ${runId} was taken over by another process; this one stops writing to it`);
  }
}

/** The ledger can't be used until a person fixes something. */
export class LedgerUnusableError extends SafeError {
  override readonly name = 'LedgerUnusableError';
  constructor(
    /** The path of its file, or the address of its server without a password. */
    readonly place: string,
    /** What was expected, what was found, and what to do. */
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`the ledger ${place} cannot be used: ${reason}`, options);
  }
}

/** The ledger does not respond. What was written stays, and the next run resumes from there. */
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

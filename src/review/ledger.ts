import type { BookingWarning, RejectReason } from '../booking/normalise.js';
import type { ExportLog } from '../mappings/export/export-log.js';
import type { MappingCopy } from '../mappings/mapping-copy.js';
import type { DeliveryKind, Run, RunFailure, RunState, Trigger } from './run.js';
import type { UnreadableReason } from './source.js';
import type { BookingForm, Claim, Claimed, PlannedStep, Step, StepEnding, StepState } from './step.js';

export { FencedError, LedgerAwayError, LedgerFullError, LedgerUnusableError } from './ledger-faults.js';

/**
 * The database that knows every run, step and booking and its state: the truth. (Design 3.)
 *
 * It keeps bookings by batch, in the bytes in which they are sent. All instants are epoch milliseconds.
 */
export interface Ledger {
  /**
   * How long a right lasts that its owner doesn't renew: whoever finds it taken may try again that much later. 0 where
   * the kernel holds the rights, which end with their owner.
   */
  readonly leaseMs: number;
  readonly mappings: MappingCopy;
  readonly exports: ExportLog;
  /** Takes the sole right to work on a day, now or not at all; undefined when somebody alive holds it. */
  holdDay(day: string): Promise<Hold | undefined>;
  /** Takes one of so many places for runs at the same time, over all processes; undefined while all are taken. */
  holdPlace(places: number): Promise<Hold | undefined>;
  /** Rejects when the ledger can't be reached now; answers within two seconds either way. */
  ping(): Promise<void>;

  latestRun(day: string): Promise<Run | undefined>;
  /** @throws RangeError for a run that does not exist. */
  getRun(runId: string): Promise<Run>;
  /** Newest day first, and within a day the newest run first. */
  listRuns(options: { readonly day?: string; readonly limit: number }): Promise<Run[]>;
  /** The newest run of each day from `from` to `to` that has one, oldest day first. */
  listLatestRuns(range: { readonly from: string; readonly to: string }): Promise<Run[]>;
  /** Oldest day first. */
  listActiveRuns(): Promise<Run[]>;
  summarise(): Promise<LedgerSummary>;
  /** Creates a run; `replaces` is marked cancelled in the same transaction and can be written no more. */
  createRun(run: NewRun): Promise<Run>;
  /**
   * Makes a run one's own: raises its token, opens again what was being performed (its outcome is unknown), and,
   * where the run had failed, gives fresh tries to what failed; where too many refusals had stopped it, also to
   * what was refused. The next look for a result is due at once.
   */
  takeOver(runId: string): Promise<Run>;
  /** Ends a run by compare-and-set. False when the run is not active any more. @throws FencedError */
  settle(right: Right, settlement: Settlement): Promise<boolean>;

  /** Starts collecting from nothing: what an earlier, cut-off collect of this run left is removed. @throws FencedError */
  beginCollect(right: Right, collect: CollectStart): Promise<Collect>;

  /** Steps that may be queued, in the plan's order, a page at a time. */
  listOpenSteps(
    runId: string,
    page: { readonly after?: StepCursor; readonly limit: number },
  ): Promise<OpenStep[]>;
  /**
   * Takes a step, and brings its run and its bookings along. Without a token it is taken under the one of now: whoever
   * shares a run has no other right to it than that it is handed to them.
   *
   * Undefined when the step is not open, the attempt is stale, or the run is no longer ours, active or of this ledger.
   */
  claim(right: Right | SharedRight, step: string, attempt: number, at: number): Promise<Claimed | undefined>;
  /** Records what an attempt came to, and the run's counts with it. @throws FencedError under an outdated claim. */
  record(claim: Claim, ending: StepEnding, at: number): Promise<Recorded>;
  /** False once the claim is outdated: somebody else has taken the run, or the step alone, over. */
  holdsClaim(claim: Claim): Promise<boolean>;
  /** Says of claims that they are still worked under, for another lease. Answers those that are outdated. */
  renewClaims(claims: readonly Claim[]): Promise<Claim[]>;
  /**
   * Opens again the steps of a run whose claim was not renewed for a lease: their owner is dead or frozen, and what it
   * was doing may have reached the service. Answers how many.
   */
  reopenAbandoned(runId: string): Promise<number>;
  /** True when a step of the run is performed under a claim that is renewed. */
  isBeingPerformed(runId: string): Promise<boolean>;
  readBatch(runId: string, form: BookingForm, batch: number): Promise<Buffer>;
  /** How many batches and bookings are kept in that form. */
  measureBatches(runId: string, form: BookingForm): Promise<{ batches: number; bookings: number }>;
  /** Says which bookings of the file are affected, in place of what was said before. @throws FencedError */
  replaceAffected(claim: Claim, affected: readonly AffectedPlaces[]): Promise<void>;
  /**
   * What other runs of the same day have delivered, as far as it is still kept with its guests' names: the piece behind
   * `after`, of one stored batch each; undefined when there is none.
   */
  nextDelivered(runId: string, after?: DeliveredCursor): Promise<DeliveredLines | undefined>;
  /** The first batch behind `after` that has affected bookings, with their lines. */
  nextAffected(runId: string, after?: number): Promise<AffectedLines | undefined>;

  /** The piece of a run's suspects behind `after`, of one stored batch; undefined when there is none. */
  nextSuspects(runId: string, after?: BatchCursor): Promise<SuspectLines | undefined>;

  /** Counts again from steps and stored batches, past the counters: the proof that the sums add up. */
  tally(runId: string): Promise<Tally>;
  countRejects(runId: string): Promise<ReasonCount[]>;
  countWarnings(runId: string): Promise<ReasonCount[]>;
  listRefused(runId: string, limit: number): Promise<RefusedBooking[]>;
  /** Every booking and reject with that reference, in all runs, the newest run first. */
  trace(reference: string): Promise<Trace[]>;
  /** The ended attempts of a step, in their order. */
  listAttempts(runId: string, step: string): Promise<Attempt[]>;

  /** The run that a request of the end-of-day hook was answered with. */
  findHookRun(requestId: string): Promise<string | undefined>;
  /** Remembers it for a month; one that is remembered already stays as it is. */
  rememberHookRun(request: {
    readonly id: string;
    readonly runId: string;
    readonly at: number;
  }): Promise<void>;

  /** Ended runs of days before `day` whose guests' names are not blanked yet. */
  listRunsWithNames(before: string): Promise<Run[]>;
  /** Rewrites the bookings of days before `day`, once, and drops the service's words: the guests' names go. */
  blankGuestNames(before: string, blank: (lines: Buffer, form: BookingForm) => Buffer): Promise<number>;
  /** Removes bookings, steps and verdicts of days before `day`; the rows of the runs stay. */
  prune(before: string): Promise<number>;
  close(): Promise<void>;
}

/** A right that one has until one gives it up, or dies. */
export interface Hold {
  /** Aborts when the right was lost, or may be: somebody else may have it. Never does where the kernel holds it. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** Names a run and the token under which one writes to it. */
export interface Right {
  readonly runId: string;
  readonly token: number;
}

/** Names a run that many work on at the same time. */
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

export interface CollectStart {
  readonly source: string;
  readonly at: number;
  /** How many bookings every stored batch but the last of its form holds. */
  readonly batchSize: number;
  /** Whether bookings are compared with the local copy of the mappings: then the run counts its suspects. */
  readonly comparesMappings?: boolean;
}

/** One collect, from its first record to the plan. */
export interface Collect {
  /** Stores a chunk in one transaction; the run's counts rise with it, so that the sums hold at any moment. */
  store(chunk: CollectedChunk): Promise<void>;
  /** True when that stored batch has exactly this line. @throws FencedError */
  holds(form: BookingForm, batch: number, line: string): Promise<boolean>;
  /** Ends the collect and writes down the plan, in one transaction. */
  finish(plan: { readonly steps: readonly PlannedStep[]; readonly at: number }): Promise<Run>;
}

export interface CollectedChunk {
  readonly batches: readonly CollectedBatch[];
  readonly duplicates: number;
  readonly rejects: readonly Reject[];
  readonly warnings: readonly ReasonCount[];
}

export interface CollectedBatch {
  readonly form: BookingForm;
  readonly number: number;
  /** One rendered booking a line, each ended by a line feed. */
  readonly lines: Buffer;
  /** Of each line, the hash of its booking reference: see `hashReference`. */
  readonly referenceHashes: readonly number[];
  /** In the order of their places. */
  readonly suspects?: readonly Suspect[];
}

/** A booking that the local copy of the mappings has something to say about. It is sent all the same. */
export interface Suspect {
  /** Among the batch's lines, counted from 0. */
  readonly place: number;
  readonly reason: SuspectReason;
  /** The master hotel that the copy has its provider's hotel under; absent where the mapping was deleted. */
  readonly serviceId?: number;
  /** When the mapping moved, epoch milliseconds; absent if it never did. */
  readonly movedAt?: number;
}

/**
 * `other-master`: the copy has it under another master hotel. `moved`: its mapping changed within the last days.
 * `filled-in`: its ServiceId was taken from the copy, so that comparing it with the copy says nothing.
 */
export type SuspectReason = 'other-master' | 'moved' | 'filled-in';

export interface SuspectLines {
  readonly cursor: BatchCursor;
  readonly form: BookingForm;
  /** In the order of their places. */
  readonly suspects: readonly (Suspect & { readonly line: string })[];
}

export interface BatchCursor {
  readonly form: BookingForm;
  readonly batch: number;
}

export type RejectCode = RejectReason | UnreadableReason | 'not-for-the-file';

export interface Reject {
  readonly place: number;
  readonly reason: RejectCode;
  readonly reference?: string;
}

export interface ReasonCount {
  readonly reason: RejectCode | BookingWarning | 'absent-column';
  readonly count: number;
  /** The first place it was met at, in the source's own count. */
  readonly firstPlace?: number;
}

/** Bookings of one batch of the file. */
export interface AffectedPlaces {
  readonly batch: number;
  /** Counted from 0, ascending. */
  readonly places: readonly number[];
}

export interface AffectedLines {
  readonly batch: number;
  readonly lines: readonly string[];
}

/** Where one stands in what other runs have delivered: opaque, comparable to nothing. */
export type DeliveredCursor = string & { readonly ofDelivered: unique symbol };

export interface DeliveredLines {
  readonly cursor: DeliveredCursor;
  readonly form: BookingForm;
  /** Each ended by a line feed. */
  readonly lines: Buffer;
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

/** A step as the ledger keeps it. */
export interface StoredStep extends Step {
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

export interface RefusedBooking {
  readonly step: string;
  readonly code: string;
  readonly line: string;
  readonly form: BookingForm;
}

export interface Attempt {
  readonly step: string;
  readonly attempt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: StepEnding['kind'];
  readonly code: string;
  readonly httpStatus?: number;
  readonly statusCode?: number;
  readonly answer?: string;
  readonly sha256?: string;
}

export type Trace =
  | {
      readonly kind: 'booking';
      readonly run: Run;
      readonly form: BookingForm;
      readonly line: string;
      readonly step?: Pick<Step, 'name' | 'kind'> & { readonly state: StepState };
      /** Whether the result marks its mapping as incorrect; absent until a result has come home. */
      readonly isAffected?: boolean;
      /** What the local copy of the mappings had to say about it. */
      readonly suspect?: Suspect;
      readonly attempts: readonly Attempt[];
    }
  | { readonly kind: 'reject'; readonly run: Run; readonly place: number; readonly reason: RejectCode };

import type { Hold } from '../async/hold.js';
import type { BusinessDay } from '../booking/business-day.js';
import type { ExportLog, ExportReader } from '../mappings/export/export-log.js';
import type { HotelContents, HotelReader } from '../mappings/hotels/hotel-contents.js';
import type { MappingCopy, MappingReader } from '../mappings/mapping-copy.js';
import type { ActionRecorder, AuditTrail } from './audit.js';
import type { CanaryReader, CanaryWriter } from './canary.js';
import type { Claims, OpenStep, Right, StepCursor } from './claims.js';
import type { Collecting, DeliveredBookings } from './collected.js';
import type { ErasureReader, Erasures } from './erasures.js';
import type { AttemptReader, History, RejectLister, RejectReader, SuspectReader } from './history.js';
import type { KeptColumnReader } from './kept-columns.js';
import type { ProgressReader } from './progress.js';
import type { KeptDataReader, Retention } from './retention.js';
import type { RemoteRemoval } from './review-file.js';
import type { DeliveryKind, Run, RunFailure, RunState, Trigger } from './run.js';
import type { StayLedger } from './stays.js';
import type { BookingForm, Slice } from './step.js';
import type { VolumeAcceptance, VolumeReader } from './volume.js';

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
    Retention,
    Erasures,
    CanaryWriter,
    StayLedger {
  readonly mappings: MappingCopy;
  readonly hotels: HotelContents;
  readonly exports: ExportLog;
  readonly audit: AuditTrail;
}

/** A read-only ledger, for looking at runs while other processes work. */
export interface ReadOnlyLedger
  extends RunReader,
    DayOverview,
    DayRunLister,
    DayMarker,
    ReviewedDayLister,
    StepReader,
    UndeliveredReader,
    WaitReader,
    ProgressReader,
    AttemptReader,
    BatchReader,
    BatchSampler,
    DeliveredBookings,
    VolumeReader,
    RejectReader,
    RejectLister,
    History,
    SuspectReader,
    KeptColumnReader,
    KeptDataReader,
    CanaryReader,
    ErasureReader {
  readonly mappings: MappingReader;
  readonly hotels: HotelReader;
  readonly exports: ExportReader;
  /** The only thing that is written while looking: that somebody looked. */
  readonly audit: ActionRecorder;
  /** Rejects if the ledger can't be reached; settles within two seconds either way. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RunReader extends RunLister {
  /** The newest run of the day. */
  latestRun(day: string): Promise<Run | undefined>;
  findRun(runId: string): Promise<Run | undefined>;
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

export interface DayRunLister {
  /**
   * The runs of all days from `from` to `to`, oldest day first, and within a day the newest run first.
   * Runs that complete no day, of which there may be dozens a day, are combined as in `collapseRuns`.
   */
  listRunsOfDays(range: { readonly from: string; readonly to: string }): Promise<Run[]>;
}

/** For caches of what was computed from the bookings of days. */
export interface DayMarker {
  /** Of each day with a run, the oldest first. */
  markDays(range: { readonly from: string; readonly to: string }): Promise<DayMark[]>;
}

export interface DayMark {
  /** YYYY-MM-DD */
  readonly day: string;
  /**
   * Changes whenever the day's runs, their bookings or the verdicts on these change; e-mails that name only hotels
   * don't count.
   */
  readonly mark: string;
  /** When its runs ended. */
  readonly finishedAt: readonly number[];
}

export interface ReviewedDayLister {
  /**
   * The days from `from` to `to` with a run that reviewed all of them (`reviewsDay`), whatever runs came after it, oldest first.
   * YYYY-MM-DD
   */
  listReviewedDays(range: { readonly from: BusinessDay; readonly to: BusinessDay }): Promise<string[]>;
}

/** What run-transitions.ts decides about a whole run. */
export interface RunWriter {
  /** Creates a run; `replaces` is marked cancelled in the same transaction and can't be written to any more. */
  createRun(run: NewRun): Promise<Run>;
  /** Cancels an unfinished run; false if it has ended otherwise. Whoever works on it can't write to it any more. */
  abandon(runId: string, abandonment: Abandonment): Promise<boolean>;
  /** Takes a run over: see `takeOverSteps`. What `asked` holds replaces what the run was started with. */
  takeOver(runId: string, asked?: CollectRequest): Promise<Run>;
  /** Records how many records the run's source should hold, whatever the run's state; see `hasUnexpectedCount`. */
  noteExpected(runId: string, expected: number): Promise<Run>;
  /** Records who accepted the run's number of bookings, whatever the run's state. */
  acceptVolume(runId: string, acceptance: VolumeAcceptance): Promise<Run>;
  /** Records what became of a file of the run on the SFTP server, whatever its state; replaces what was recorded of that file. */
  noteRemoval(runId: string, removal: RemoteRemoval): Promise<void>;
  /** Replaces why a run failed; false unless it failed with the code `before`. */
  replaceFailure(
    runId: string,
    change: { readonly before: string | undefined; readonly failure: RunFailure; readonly at: number },
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
  /** Several at once: the caller limits how many bookings that may be. */
  readBatches(runId: string, form: BookingForm, range: BatchRange): Promise<readonly Buffer[]>;
  /** How many batches and bookings are stored in that form. */
  measureBatches(runId: string, form: BookingForm): Promise<{ batches: number; bookings: number }>;
}

/** From the number of the first batch to the one after the last. */
export interface BatchRange {
  readonly from: number;
  readonly to: number;
}

export interface UndeliveredReader {
  /** The slices of a run's batches that were not delivered by body, if the run has a plan. */
  listUndelivered(runId: string): Promise<readonly Pick<Slice, 'batch' | 'first' | 'bookings'>[]>;
}

export interface BatchSampler {
  /** The first and the last batch of each form; none of a run without bookings. */
  sampleBatches(runId: string): Promise<readonly { readonly form: BookingForm; readonly lines: Buffer }[]>;
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

export interface LedgerSummary {
  readonly runsByState: Readonly<Record<RunState, number>>;
  /** The first day with a run of its bookings. */
  readonly firstDay?: string;
  /** The last day with a run that makes it good (`makesDayGood`). */
  readonly lastGoodDay?: string;
}

/** What the caller that starts or resumes a run says about its day. */
export interface CollectRequest {
  /** Far fewer bookings than usual are right this time. */
  readonly acceptance?: VolumeAcceptance | undefined;
  /** Accepts bookings that an earlier day sent this time. */
  readonly acceptsRepeated?: boolean | undefined;
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

import type { FilterWarning } from '../booking/filter-columns.js';
import type { SourceNotice } from '../booking/source.js';
import type { QueueAwayError } from '../booking/step-queue.js';
import type { DayCounts } from '../rules/day-outcome.js';
import type { AcceptanceKind, Run, VolumeComparison } from '../rules/run.js';
import type { Ending, Evidence, Step } from '../rules/step.js';

/** The run that an event belongs to. */
export type RunName = Pick<Run, 'id' | 'day'>;

/** What happens in a review, reported as it happens. No event holds a booking or a text of the service. */
export type ReviewEvent =
  | {
      readonly type: 'run-opened';
      readonly run: Run;
      readonly isResumed: boolean;
    }
  | {
      readonly type: 'collecting';
      readonly run: RunName;
      readonly read: number;
      /** In the source's own unit; absent where the source doesn't know its size. */
      readonly progress?: { readonly done: number; readonly total: number };
    }
  | { readonly type: 'source-notice'; readonly run: RunName; readonly notice: SourceNotice | FilterWarning }
  /** A run by file whose bookings all go by body, because none can be in the file. Nothing has been sent yet. */
  | { readonly type: 'no-review-file'; readonly run: RunName; readonly posted: number }
  /** The day has far fewer bookings than usual, and is sent all the same. */
  | { readonly type: 'volume-dropped'; readonly run: RunName; readonly volume: VolumeComparison }
  /** The day has fewer bookings than usual, and is good. */
  | { readonly type: 'volume-low'; readonly run: RunName; readonly volume: VolumeComparison }
  /** A person has accepted a day that was sent with far fewer bookings than usual. */
  | { readonly type: 'accepted'; readonly kind: AcceptanceKind; readonly run: Run }
  | { readonly type: 'collected'; readonly run: Run }
  | { readonly type: 'step-claimed'; readonly run: RunName; readonly step: Step; readonly attempt: number }
  | {
      readonly type: 'step-ended';
      readonly run: Run;
      readonly step: Step;
      readonly attempt: number;
      readonly outcome: Ending;
      readonly evidence: Omit<Evidence, 'answer'>;
    }
  | {
      readonly type: 'transferring';
      readonly run: Run;
      readonly step: Step;
      /** Bytes */
      readonly done: number;
      readonly total: number;
    }
  /** All processes pause. Reported once per pause, by the process that started it. */
  | {
      readonly type: 'holding-off';
      /** `asked`: the service asked for a pause. `failing`: one attempt after another failed. */
      readonly cause: 'asked' | 'failing';
      readonly run: RunName;
      readonly until: number;
      readonly code: string;
    }
  /** The progress of a run that several processes work on. */
  | { readonly type: 'watched'; readonly run: Run }
  /** Another process holds the day; this one waits for it. */
  | { readonly type: 'waiting-for-day'; readonly day: string }
  /** Another process has taken over a step of this one, whose write was refused. */
  | { readonly type: 'superseded'; readonly runId: string; readonly step: string }
  /** A step failed for a reason that is not one of its outcomes. The ledger keeps it open, and it is retried. */
  | { readonly type: 'faulted'; readonly runId?: string; readonly step?: string; readonly error: unknown }
  /** A review in the background failed, with no caller waiting for it. */
  | { readonly type: 'review-broke-off'; readonly day: string; readonly error: unknown }
  /** This process can't reach the queue, or can again. Nothing is handed out in the meantime, and nothing is lost. */
  | { readonly type: 'queue-away'; readonly address: string; readonly reason: string }
  | { readonly type: 'queue-back'; readonly address: string }
  /** The queue has refused everything for too long. Reported once, until it is back. */
  | { readonly type: 'queue-given-up'; readonly error: QueueAwayError }
  /** A worker is ready to perform steps. */
  | { readonly type: 'working' }
  | { readonly type: 'stopping'; readonly run?: RunName; readonly graceMs: number }
  /** The run of a day whose source is not there yet failed; it is tried again until that instant. Reported once per run. */
  | { readonly type: 'source-late'; readonly run: RunName; readonly until: number }
  /** A further try of such a run. */
  | { readonly type: 'source-still-missing'; readonly run: RunName }
  /** Reported once per end of a run, by the process that settled it. */
  | {
      readonly type: 'settled';
      readonly run: Run;
      /** What its day came to with it; absent for a day without bookings. */
      readonly outcome?: DayCounts | undefined;
    };

export type Notify = (event: ReviewEvent) => void;

import type { DeliveryKind, RunFailure, RunState, Trigger } from './run.js';
import type { VolumeAcceptance } from './volume.js';

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

export interface Wait {
  readonly step: string;
  readonly until: number;
  /** Why: how the step's last attempt ended. */
  readonly code: string;
}

/** From the number of the first batch to the one after the last. */
export interface BatchRange {
  readonly from: number;
  readonly to: number;
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

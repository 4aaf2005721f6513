import type { Run } from './run.js';
import type { SourceNotice } from './source.js';
import type { Evidence, Step, StepEnding } from './step.js';

/** Which run an event is of. */
export type RunName = Pick<Run, 'id' | 'day'>;

/** What happens in a run, told as it happens. No event holds a booking or a text of the service. */
export type ReviewEvent =
  | { readonly type: 'run-opened'; readonly run: Run; readonly isResumed: boolean }
  | {
      readonly type: 'collecting';
      readonly run: RunName;
      readonly read: number;
      /** In the source's own measure; absent where it can't tell. */
      readonly progress?: { readonly done: number; readonly total: number };
    }
  | { readonly type: 'source-notice'; readonly run: RunName; readonly notice: SourceNotice }
  | { readonly type: 'collected'; readonly run: Run }
  | { readonly type: 'step-claimed'; readonly run: RunName; readonly step: Step; readonly attempt: number }
  | {
      readonly type: 'step-ended';
      readonly run: Run;
      readonly step: Step;
      readonly attempt: number;
      readonly outcome: StepEnding['kind'];
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
  | {
      readonly type: 'holding-off';
      /** `asked` by the service, or `failing`: attempt after attempt came to nothing. */
      readonly cause: 'asked' | 'failing';
      readonly run: RunName;
      readonly until: number;
      readonly code: string;
    }
  /** How far a run has come that several processes work on. */
  | { readonly type: 'watched'; readonly run: Run }
  /** Somebody else holds the day: it is waited for. */
  | { readonly type: 'waiting-for-day'; readonly day: string }
  /** Somebody else has taken over what this process was doing: what it would have written was refused. */
  | { readonly type: 'superseded'; readonly runId: string; readonly step: string }
  /** Something broke outside of what a step can come to; the ledger holds the step open, and it is tried again. */
  | { readonly type: 'faulted'; readonly runId?: string; readonly step?: string; readonly error: unknown }
  /** The queue doesn't answer, or does again: meanwhile nothing is handed out, and nothing is lost. */
  | { readonly type: 'queue-away'; readonly address: string; readonly reason: string }
  | { readonly type: 'queue-back'; readonly address: string }
  /** A worker is ready for whatever is handed out. */
  | { readonly type: 'working' }
  | { readonly type: 'stopping'; readonly run?: RunName; readonly graceMs: number }
  | { readonly type: 'settled'; readonly run: Run };

export type Notify = (event: ReviewEvent) => void;

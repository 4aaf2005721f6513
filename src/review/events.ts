import type { SourceNotice } from '../sources/source.js';
import type { Run } from './run.js';
import type { Evidence, Step, StepEnding } from './step.js';

/** What happens in a run, told as it happens. No event holds a booking or a text of the service. */
export type ReviewEvent =
  | { readonly type: 'run-opened'; readonly run: Run; readonly isResumed: boolean }
  | {
      readonly type: 'collecting';
      readonly read: number;
      /** In the source's own measure; absent where it can't tell. */
      readonly progress?: { readonly done: number; readonly total: number };
    }
  | { readonly type: 'source-notice'; readonly notice: SourceNotice }
  | { readonly type: 'collected'; readonly run: Run }
  | { readonly type: 'step-claimed'; readonly runId: string; readonly step: Step; readonly attempt: number }
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
      readonly runId: string;
      readonly until: number;
      readonly code: string;
    }
  | { readonly type: 'stopping'; readonly runId: string; readonly graceMs: number }
  | { readonly type: 'settled'; readonly run: Run };

export type Notify = (event: ReviewEvent) => void;

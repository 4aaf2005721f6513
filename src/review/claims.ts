import type { Run } from './run.js';
import type { Step } from './step.js';

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

/** What recording an ending led to: not part of the attempt, but the run's new state and the steps to queue. */
export interface Recorded {
  readonly run: Run;
  /** Steps that this ending opened: halves, a successor, or the step itself, for example after an interruption. */
  readonly opened: readonly OpenStep[];
  /** True if this ending ended the run; of all processes that work on it, exactly one gets true. */
  readonly settled: boolean;
}

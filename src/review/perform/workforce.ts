import type { Run } from '../run.js';

/** Who performs the steps of a run that is collected. */
export type Workforce = OwnWorkforce | SharedWorkforce;

/** This process alone. */
export interface OwnWorkforce extends Deliverer {
  readonly isShared: false;
}

/**
 * Processes that share the work: whoever starts a run holds its day only until it is collected, every process may take
 * every step, and a second `run` of the day joins.
 */
export interface SharedWorkforce extends Deliverer {
  readonly isShared: true;
  /** Starts to perform what the queue hands out, of any run, and to reconcile. */
  start(): void;
  /** Steps of all runs that wait in the queue. Rejects when the queue can't be reached. */
  countWaiting(): Promise<number>;
}

interface Deliverer {
  /** Answers when the run has nothing left to do, or the signal stopped the work here. @throws FencedError */
  deliver(run: Run, signal: AbortSignal): Promise<Run>;
  /** Ends or gives up the steps in hand. Idempotent. */
  close(): Promise<void>;
}

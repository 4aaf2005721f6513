import type { Hold } from '../../async/hold.js';
import type { Run } from '../run.js';

/** Who performs the steps of a collected run: this process alone, or all processes that share a queue. */
export interface Workforce {
  /** Whether a second `run` of a day joins the run that others work on, instead of waiting for its day. */
  readonly letsOthersJoin: boolean;
  /**
   * Resolves once the run has nothing left to do, or the signal stopped the work here.
   *
   * @param hold of the run's day, if this process has it. A workforce of its own stops when it is lost; a shared one
   * releases it: everybody may take the steps of a collected run.
   * @throws FencedError
   */
  deliver(run: Run, signal: AbortSignal, hold?: Hold): Promise<Run>;
  /** Steps of all runs that wait in a queue between processes, if there is one. Rejects when it can't be reached. */
  countWaiting?(): Promise<number>;
  /** Finishes or interrupts the steps in hand. Idempotent. */
  close(): Promise<void>;
}

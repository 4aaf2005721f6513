import type { Run } from './run.js';

/** Who performs the steps of a run that is collected. */
export interface Workforce {
  /**
   * True when processes share the work: whoever starts a run holds its day only until it is collected, every process may
   * take every step, and a second `run` of the day joins.
   */
  readonly isShared: boolean;
  /** Answers when the run has nothing left to do, or the signal stopped the work here. @throws FencedError */
  deliver(run: Run, signal: AbortSignal): Promise<Run>;
  /** Ends or gives up the steps in hand. Idempotent. */
  close(): Promise<void>;
}

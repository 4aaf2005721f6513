import { setTimeout as pause } from 'node:timers/promises';
import { LedgerAwayError } from '../../review/ledger.js';
import { PassingFault } from './faults.js';

const firstPauseMs = 25;
const longestPauseMs = 1_000;

/**
 * Tries until it is done or fails for good.
 *
 * @throws LedgerAwayError when patience is over
 */
export async function persist<Result>(
  {
    place,
    patienceMs,
    isOver,
  }: {
    readonly place: string;
    readonly patienceMs: number;
    /** True once nobody waits for it any more. */
    readonly isOver: () => boolean;
  },
  work: () => Promise<Result>,
): Promise<Result> {
  const deadline = performance.now() + patienceMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PassingFault)) throw error;
      if (isOver() || performance.now() + pauseMs > deadline)
        throw new LedgerAwayError(place, { cause: error });
      await pause(pauseMs);
    }
  }
}

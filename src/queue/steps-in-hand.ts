import { setMaxListeners } from 'node:events';
import type { PerformStep, StepReference } from '../booking/step-queue.js';

/** The steps that a process has taken from a queue and performs. Their errors go nowhere else: a message may name a guest. */
export function createStepsInHand(
  perform: PerformStep,
  onError: (error: unknown, reference: StepReference) => void,
) {
  const inHand = new Set<Promise<void>>();
  const abandoning = new AbortController();
  // Every step in progress adds a listener: many of them are no leak.
  setMaxListeners(0, abandoning.signal);

  async function performQuietly(reference: StepReference, releasePermit: () => void): Promise<void> {
    try {
      await perform(reference, abandoning.signal, releasePermit);
    } catch (error) {
      onError(error, reference);
    }
  }

  return {
    /** Resolves when the step has freed its permit. */
    perform: (reference: StepReference): Promise<void> =>
      new Promise((releasePermit) => {
        const performing = performQuietly(reference, releasePermit).finally(() => {
          inHand.delete(performing);
          releasePermit();
        });
        inHand.add(performing);
      }),
    /** Resolves when none is in progress. Those still running after `graceMs` are aborted. */
    async end(graceMs: number): Promise<void> {
      const grace = setTimeout(() => abandoning.abort(new Error('the queue was closed')), graceMs);
      while (inHand.size > 0) await Promise.allSettled(inHand);
      clearTimeout(grace);
    },
  };
}

/** Spreads steps over the second, in so many portions, instead of one burst at its start. */
export function spread(perSecond: number, portionsPerSecond: number) {
  const portions = Math.min(perSecond, portionsPerSecond);
  const max = Math.max(1, Math.round(perSecond / portions));
  // Timers count whole milliseconds and round down.
  return { max, duration: Math.ceil((1000 * max) / perSecond) };
}

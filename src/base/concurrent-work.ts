import { hasPassed } from './elapsed.js';

/** Lets so many pass at once; the others wait for their turn. */
export function createGate(permits: number) {
  let free = permits;
  const waiting = new Set<() => void>();
  return {
    /** @returns gives the permit back, or stops waiting for one */
    enter(pass: () => void): () => void {
      let isInside = false;
      const goIn = () => {
        isInside = true;
        pass();
      };
      if (free > 0) {
        free -= 1;
        goIn();
      } else waiting.add(goIn);
      return () => {
        waiting.delete(goIn);
        if (!isInside) return;
        isInside = false;
        const [next] = waiting;
        if (next === undefined) free += 1;
        else {
          waiting.delete(next);
          next();
        }
      };
    },
    /** How many wait. */
    countWaiting: (): number => waiting.size,
  };
}

/**
 * Shares work between all who ask while it is done, and for a while after it succeeded, so that frequent callers cause no more of it
 * than a few.
 */
export function shareWork<Result>(
  work: () => Promise<Result>,
  clock: () => number,
  reuseMs: number,
): () => Promise<Result> {
  let last: { readonly result: Promise<Result>; endedAt?: number } | undefined;
  return () => {
    const { result, endedAt } = last ?? {};
    if (result && (endedAt === undefined || !hasPassed(reuseMs, { since: endedAt, now: clock() })))
      return result;
    const started: NonNullable<typeof last> = { result: work() };
    last = started;
    started.result.then(
      () => {
        started.endedAt = clock();
      },
      () => {
        last = undefined;
      },
    );
    return started.result;
  };
}

import { decideRetry, type RetryPolicy } from '../async/retry.js';
import { createAbortWatch } from '../http/abort-watch.js';
import type { Verdict } from './mapping-service.js';

export type FailedVerdict = Exclude<Verdict, { readonly kind: 'accepted' }>;

/** What one try of a call came to. */
export type Try<Value> =
  | { readonly kind: 'succeeded'; readonly value: Value }
  | { readonly kind: 'failed'; readonly verdict: FailedVerdict };

export interface Retrying {
  /**
   * Makes a call until it succeeds, is clearly refused, or its tries are spent. Throws what a try throws, and the
   * signal's reason when aborted.
   *
   * @param isRepeatable whether the call may be made twice: if not, it is repeated only where the service cannot have
   * taken it
   */
  repeat<Value>(
    makeTry: () => Promise<Try<Value>>,
    how: { readonly isRepeatable: boolean; readonly signal: AbortSignal },
  ): Promise<{ readonly last: Try<Value>; readonly made: number }>;
}

/** @param closed once it aborts, nothing is repeated any more, and waits end */
export function createRetrying({
  policy,
  random,
  closed,
}: {
  readonly policy: RetryPolicy;
  readonly random: () => number;
  readonly closed: AbortSignal;
}): Retrying {
  const aborts = createAbortWatch();

  const wait = (milliseconds: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        for (const unwatch of watches) unwatch();
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      const watches = [aborts.watch(signal, end), aborts.watch(closed, end)];
    });

  return {
    async repeat(makeTry, { isRepeatable, signal }) {
      let spent = { tries: 0, waits: 0 };
      for (let made = 1; ; made += 1) {
        const last = await makeTry();
        if (last.kind === 'succeeded' || !mayRepeat(last.verdict, isRepeatable)) return { last, made };
        const { retryAfterMs } = last.verdict;
        const decision = decideRetry({ ...spent, retryAfterMs }, policy, random);
        if (decision.kind === 'spent') return { last, made };
        if (!signal.aborted && !closed.aborted) await wait(decision.delayMs, signal);
        signal.throwIfAborted();
        if (closed.aborted) return { last, made };
        spent = decision.spendsTry
          ? { ...spent, tries: spent.tries + 1 }
          : { ...spent, waits: spent.waits + 1 };
      }
    },
  };
}

function mayRepeat(
  verdict: FailedVerdict,
  isRepeatable: boolean,
): verdict is Extract<Verdict, { readonly kind: 'retryable' }> {
  return verdict.kind === 'retryable' && (isRepeatable || !verdict.outcomeUnknown);
}

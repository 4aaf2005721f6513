export interface RetryPolicy {
  /** How many tries before giving up. */
  readonly tries: number;
  readonly baseMs: number;
  readonly capMs: number;
  /** The longest wait that the service can ask for. */
  readonly retryAfterCapMs: number;
  /** How many waits the service can ask for; without a bound a call could wait forever. */
  readonly waits: number;
}

/** Six tries, with up to 1, 2, 4, 8 and 16 seconds between them. The service may ask for longer waits. */
export const defaultRetryPolicy: RetryPolicy = {
  tries: 6,
  waits: 20,
  baseMs: 1_000,
  capMs: 60_000,
  retryAfterCapMs: 300_000,
};

export interface Failure {
  /** Tries spent before this one. */
  readonly tries: number;
  /** Requested waits spent before this one. */
  readonly waits: number;
  readonly retryAfterMs?: number | undefined;
}

/**
 * Decides whether and when to try again: exponential back-off with full jitter, so that batches that failed together
 * don't come back together. A wait that the service asked for is honoured up to a cap and spends no try. Once these
 * waits are used up, each costs a try, and is still not cut short.
 *
 * @param random uniform in [0, 1)
 */
export function decideRetry(failure: Failure, policy: RetryPolicy, random: () => number) {
  const { tries, waits, retryAfterMs } = failure;
  const askedMs = Math.min(retryAfterMs ?? 0, policy.retryAfterCapMs);
  if (retryAfterMs !== undefined && waits < policy.waits) {
    // Never before the requested instant but a little after it: "0" must not cause a retry storm.
    const jitterMs = random() * Math.min(policy.baseMs, policy.capMs);
    return { kind: 'retry', delayMs: askedMs + jitterMs, spendsTry: false } as const;
  }
  if (tries + 1 >= policy.tries) return { kind: 'spent' } as const;
  const backOffMs = random() * Math.min(policy.capMs, policy.baseMs * 2 ** tries);
  return { kind: 'retry', delayMs: Math.max(askedMs, backOffMs), spendsTry: true } as const;
}

/**
 * Counts the failures of one call that is repeated in memory. The returned function takes what the service asked for, and
 * returns the delay before the next try; undefined when none is left.
 */
export function createRetryDelays(
  policy: RetryPolicy,
  random: () => number,
): (retryAfterMs?: number) => number | undefined {
  let [tries, waits] = [0, 0];
  return (retryAfterMs) => {
    const decision = decideRetry({ tries, waits, retryAfterMs }, policy, random);
    if (decision.kind === 'spent') return undefined;
    if (decision.spendsTry) tries += 1;
    else waits += 1;
    return decision.delayMs;
  };
}

import { answerWithin, TooLateError } from '../async/abort.js';
import { shareWork } from '../async/share.js';
import { describeError } from '../text/safe-error.js';

/** How long a look is reused, so that frequent probes don't load the database. */
const reuseMs = 1_000;

/** Rejects when the part can't be used at the moment. */
export type HealthCheck = () => Promise<void>;

export type Health = ReturnType<typeof createHealth>;

/**
 * Checks all parts at the same time.
 *
 * @param checks by name, for example `ledger`
 * @param checkMs how long each may take
 */
export function createHealth(
  checks: Readonly<Record<string, HealthCheck>>,
  clock: () => number,
  checkMs = 2_000,
) {
  async function checkAll() {
    const parts = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await nameState(check)] as const),
    );
    return {
      ready: parts.every(([, state]) => state === 'ok'),
      /** By name: `ok`, or the problem. */
      parts: Object.fromEntries(parts),
    };
  }

  async function nameState(check: HealthCheck): Promise<string> {
    try {
      await answerWithin(checkMs, check());
      return 'ok';
    } catch (error) {
      return error instanceof TooLateError ? error.message : describeError(error);
    }
  }

  return {
    /** Never rejects. Frequent probes share a look. */
    look: shareWork(checkAll, clock, reuseMs),
  };
}

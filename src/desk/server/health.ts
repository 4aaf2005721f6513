import { answerWithin, TooLateError } from '../../base/abort.js';
import { shareWork } from '../../base/concurrent-work.js';
import { describeError } from '../../base/safe-error.js';
import type { ServerLog } from './http-error.js';

/** How long a look is reused, so that frequent probes don't load the database. */
const reuseMs = 1_000;

/** Rejects when the part can't be used at the moment. */
export type HealthCheck = () => Promise<void>;

export type Health = ReturnType<typeof createHealth>;

/**
 * Checks all parts at the same time, and logs the problem of a part when it changes.
 *
 * @param checks by name, for example `ledger`
 * @param checkMs how long each may take
 */
export function createHealth(
  checks: Readonly<Record<string, HealthCheck>>,
  { clock, log }: { readonly clock: () => number; readonly log: ServerLog },
  checkMs = 2_000,
) {
  const logged = new Map<string, string>();

  async function checkAll() {
    const parts = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await nameState(check)] as const),
    );
    for (const [part, state] of parts) {
      if ((logged.get(part) ?? 'ok') === state) continue;
      logged.set(part, state);
      if (state === 'ok') log.info({ part }, 'ready again');
      else log.error({ part, problem: state }, 'not ready');
    }
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

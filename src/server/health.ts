import { answerWithin, TooLateError } from '../async/abort.js';
import { describeError } from '../text/safe-error.js';

/** Rejects when the part can't be used at the moment. */
export type HealthCheck = () => Promise<void>;

interface HealthOptions {
  /** By name, for example `ledger`. */
  readonly checks: Readonly<Record<string, HealthCheck>>;
  readonly clock: () => number;
  /** How long a check may take, in milliseconds. */
  readonly checkMs?: number;
}

/** How long a result is reused, so that frequent probes don't load the database. */
const reuseMs = 1_000;

export type Health = ReturnType<typeof createHealth>;

/** Checks all parts at the same time. */
export function createHealth({ checks, clock, checkMs = 2_000 }: HealthOptions) {
  let last: { readonly look: ReturnType<typeof checkAll>; endedAt?: number } | undefined;

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
    /** Never rejects. */
    look() {
      if (last && (last.endedAt === undefined || Math.abs(clock() - last.endedAt) < reuseMs))
        return last.look;
      const started: NonNullable<typeof last> = { look: checkAll() };
      last = started;
      return started.look.finally(() => {
        started.endedAt = clock();
      });
    },
  };
}

import { answerWithin, TooLateError } from '../async/abort.js';
import { describeError } from '../text/safe-error.js';

/** Rejects when the part can't be used at the moment. */
export type HealthCheck = () => Promise<void>;

interface Readiness {
  readonly ready: boolean;
  /** By name: `ok`, or the problem. */
  readonly parts: Readonly<Record<string, string>>;
}

export interface Health {
  /** Never rejects. */
  look(): Promise<Readiness>;
}

interface HealthOptions {
  /** By name, for example `ledger`. */
  readonly checks: Readonly<Record<string, HealthCheck>>;
  readonly clock: () => number;
  /** How long a check may take, in milliseconds. */
  readonly checkMs?: number;
}

/** How long a result is reused, so that frequent probes don't load the database. */
const reuseMs = 1_000;

/** Checks all parts at the same time. */
export function createHealth({ checks, clock, checkMs = 2_000 }: HealthOptions): Health {
  let last: { readonly look: Promise<Readiness>; endedAt?: number } | undefined;

  async function checkAll(): Promise<Readiness> {
    const parts = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        try {
          await answerWithin(checkMs, check());
          return [name, 'ok'] as const;
        } catch (error) {
          return [name, error instanceof TooLateError ? error.message : describeError(error)] as const;
        }
      }),
    );
    return { ready: parts.every(([, state]) => state === 'ok'), parts: Object.fromEntries(parts) };
  }

  return {
    look() {
      if (last && (last.endedAt === undefined || Math.abs(clock() - last.endedAt) < reuseMs))
        return last.look;
      const started: { readonly look: Promise<Readiness>; endedAt?: number } = { look: checkAll() };
      last = started;
      return started.look.finally(() => {
        started.endedAt = clock();
      });
    },
  };
}

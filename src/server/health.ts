import { describeError } from '../text/safe-error.js';
import { answerWithin, TooLateError } from './deadline.js';

/** Rejects when the part can't be used now. */
export type HealthCheck = () => Promise<void>;

export interface Readiness {
  readonly ready: boolean;
  /** By name: `ok`, or what is wrong with it. */
  readonly parts: Readonly<Record<string, string>>;
}

export interface Health {
  /** Never rejects. */
  look(): Promise<Readiness>;
}

export interface HealthOptions {
  /** By the name under which it is told, for example `ledger`. */
  readonly checks: Readonly<Record<string, HealthCheck>>;
  readonly clock: () => number;
  /** How long a check may take, in milliseconds. */
  readonly checkMs?: number;
}

/** For so long a look is good for all who ask: a storm of probes doesn't reach the database. */
const keptMs = 1_000;

/** Looks at all parts at the same time. */
export function createHealth({ checks, clock, checkMs = 2_000 }: HealthOptions): Health {
  let last: { readonly look: Promise<Readiness>; endedAt?: number } | undefined;

  async function lookAtAll(): Promise<Readiness> {
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
      if (last && (last.endedAt === undefined || Math.abs(clock() - last.endedAt) < keptMs)) return last.look;
      const begun: { readonly look: Promise<Readiness>; endedAt?: number } = { look: lookAtAll() };
      last = begun;
      return begun.look.finally(() => {
        begun.endedAt = clock();
      });
    },
  };
}

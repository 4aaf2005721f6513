import { createSeededRandom } from '../../src/sandbox/common/random.js';

export interface LatencyOptions {
  /** Half of the answers take no longer. */
  readonly p50Ms: number;
  /** All but one answer of a hundred take no longer. */
  readonly p99Ms: number;
  /** The share of calls that are answered with 429 or 503, and `Retry-After`. */
  readonly pushBackShare?: number;
  readonly seed: number;
}

/** What the service does with one call. */
export interface PlannedAnswer {
  readonly delayMs: number;
  readonly status: 200 | 429 | 503;
}

export interface LatencyModel {
  next(): PlannedAnswer;
  /** Of the accepted calls. */
  readonly meanMs: number;
}

/** The standard normal distribution's place below which 99 of 100 lie. */
const deviationsToP99 = 2.326_347_874;

/** Log-normal, as the times of answers of most services are: never below nothing, with a long tail. */
export function createLatencyModel({ p50Ms, p99Ms, pushBackShare = 0, seed }: LatencyOptions): LatencyModel {
  const random = createSeededRandom(seed);
  const sigma = Math.log(p99Ms / p50Ms) / deviationsToP99;
  return {
    next() {
      const delayMs = p50Ms * Math.exp(sigma * standardNormal(random));
      const isPushedBack = random() < pushBackShare;
      // Who pushes back does so at once.
      return isPushedBack ? { delayMs: 1, status: random() < 0.5 ? 429 : 503 } : { delayMs, status: 200 };
    },
    meanMs: p50Ms * Math.exp(sigma ** 2 / 2),
  };
}

/** Box and Muller's. */
function standardNormal(random: () => number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return radius * Math.cos(2 * Math.PI * random());
}

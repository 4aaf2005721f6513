import { createSeededRandom } from '../../src/sandbox/common/random.js';

export interface LatencyOptions {
  /** Median latency. */
  readonly p50Ms: number;
  /** 99th percentile. */
  readonly p99Ms: number;
  /** The share of calls that are answered with 429 or 503, and `Retry-After`. */
  readonly pushBackShare?: number;
  readonly seed: number;
}

/** The service's response to one call. */
export interface PlannedAnswer {
  readonly delayMs: number;
  readonly status: 200 | 429 | 503;
}

export interface LatencyModel {
  next(): PlannedAnswer;
  /** Latency of accepted calls. */
  readonly meanMs: number;
}

/** The 99th percentile of the standard normal distribution. */
const deviationsToP99 = 2.326_347_874;

/** Log-normal like the latency of most services: never negative, with a long tail. */
export function createLatencyModel({ p50Ms, p99Ms, pushBackShare = 0, seed }: LatencyOptions): LatencyModel {
  const random = createSeededRandom(seed);
  const sigma = Math.log(p99Ms / p50Ms) / deviationsToP99;
  return {
    next() {
      const delayMs = p50Ms * Math.exp(sigma * standardNormal(random));
      const isPushedBack = random() < pushBackShare;
      // Refusals come at once.
      return isPushedBack ? { delayMs: 1, status: random() < 0.5 ? 429 : 503 } : { delayMs, status: 200 };
    },
    meanMs: p50Ms * Math.exp(sigma ** 2 / 2),
  };
}

/** Box-Muller transform. */
function standardNormal(random: () => number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return radius * Math.cos(2 * Math.PI * random());
}

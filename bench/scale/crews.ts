import { createLatencyModel } from './latency-model.js';
import { type Crew, callsPerSecond, deviation, ownSecondsOf } from './model.js';
import { type Reviewed, review } from './review.js';
import { retryAfterSeconds } from './service.js';
import type { Stage } from './stage.js';

/** The experiments: the first calibrates the rule, the others are predicted by it. */
const variants: readonly (Partial<Crew> & { readonly name: string })[] = [
  { name: '`run` alone' },
  { name: 'two processes', processes: 2 },
  { name: 'four processes', processes: 4 },
  { name: 'concurrency 4', concurrency: 4 },
  { name: 'concurrency 32', concurrency: 32 },
  { name: 'batches of 500', batchSize: 500 },
  { name: 'batches of 2,000', batchSize: 2_000 },
  { name: 'limit of 20 calls/s', processes: 4, requestsPerSecond: 20 },
  { name: 'limit of 100 calls/s', processes: 4, requestsPerSecond: 100 },
  { name: '1% pushed back', processes: 2, pushBackShare: 0.01 },
];

/** The service's latency: half of its answers within 50 ms, one in a hundred after more than 500 ms. */
export const latency = { p50Ms: 50, p99Ms: 500 };

export interface Tried {
  readonly name: string;
  readonly crew: Crew;
  readonly predicted: number;
  /** Accepted calls per second. */
  readonly measured: number;
  readonly deviation: number;
  readonly reviewed: Reviewed;
}

/** What a quick run leaves out. */
const leftOut: readonly string[] = ['concurrency 4', 'concurrency 32', 'batches of 500', 'batches of 2,000'];

export async function tryCrews(
  stage: Stage,
  {
    isQuick,
    seconds,
    mostBookings,
  }: { readonly isQuick: boolean; readonly seconds: number; readonly mostBookings: number },
): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  let ownSeconds = 0;
  for (const { name, ...variant } of variants) {
    if (isQuick && leftOut.includes(name)) continue;
    const model = createLatencyModel({ ...latency, pushBackShare: variant.pushBackShare ?? 0, seed: 7 });
    const crew: Crew = {
      processes: 1,
      concurrency: 8,
      batchSize: 100,
      answerSeconds: model.meanMs / 1000,
      ownSeconds,
      retryAfterSeconds,
      ...variant,
    };
    stage.service.answerBy(model);
    const bookings = Math.min(mostBookings, Math.ceil(callsPerSecond(crew) * seconds) * crew.batchSize);
    const folder = await stage.openFolder({ engine: 'many machines', bookings, settings: settingsOf(crew) });
    const reviewed = await review(stage, folder, { workers: crew.processes - 1 });
    await folder.remove();
    const measured = stage.service.steadyPace();
    if (tried.length === 0) ownSeconds = ownSecondsOf(crew, measured);
    const predicted = callsPerSecond({ ...crew, ownSeconds });
    tried.push({
      name,
      crew: { ...crew, ownSeconds },
      predicted,
      measured,
      deviation: deviation(predicted, measured),
      reviewed,
    });
  }
  return tried;
}

function settingsOf({ batchSize, concurrency, requestsPerSecond }: Crew) {
  return { body: { batchSize, concurrency, ...(requestsPerSecond !== undefined && { requestsPerSecond }) } };
}

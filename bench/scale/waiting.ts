import { setTimeout as pause } from 'node:timers/promises';
import { startMeasured } from './command.js';
import { processorSecondsOf } from './processor-time.js';
import { readServers, startWorkers } from './review.js';
import { day, type Stage } from './stage.js';

/** The cost of waiting steps: every process reconciles queue and ledger periodically. */
export interface Waiting {
  readonly steps: number;
  readonly processes: number;
  /** Processor seconds per second of waiting. */
  readonly redis: number;
  readonly postgres: number;
  /** Per `run` or `work` process. */
  readonly process: number;
  readonly redisBytesPerStep: number;
  readonly queued: number;
}

/** Longer than any measurement. */
const silentMs = 600_000;
const settleMs = 6_000;

/** Lets this many steps wait for a service that never answers. One booking per step is enough: the cost is the same. */
export async function watchWaiting(
  stage: Stage,
  {
    steps,
    processes,
    seconds,
  }: { readonly steps: number; readonly processes: number; readonly seconds: number },
): Promise<Waiting> {
  stage.service.answerBy({ next: () => ({ delayMs: silentMs, status: 200 }) });
  const folder = await stage.openFolder({
    engine: 'many machines',
    bookings: steps,
    settings: { body: { batchSize: 1, timeoutSeconds: 3_600 } },
  });
  const usedBytes = () =>
    stage.redis.ask(async (client) => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]));
  const queuedSteps = () =>
    stage.redis.ask((client) => client.zcard('hotel-review:hotel-review-steps:prioritized'));
  const emptyBytes = await usedBytes();
  const workers = await startWorkers(folder, processes - 1);
  const crew = [startMeasured(['run', '--day', day], folder.path), ...workers];
  const ledger = folder.openLedger();
  try {
    while ((await ledger.latestRun(day))?.state !== 'delivering') await pause(100);
    await pause(settleMs);
    const ofCrew = () => crew.reduce((sum, { pid }) => sum + processorSecondsOf(pid), 0);
    const before = { ...(await readServers(stage, folder)), crew: ofCrew() };
    const started = performance.now();
    await pause(seconds * 1000);
    const passed = (performance.now() - started) / 1000;
    const after = { ...(await readServers(stage, folder)), crew: ofCrew() };
    const queued = await queuedSteps();
    return {
      steps,
      processes,
      redis: (after.redis - before.redis) / passed,
      postgres: (after.postgres - before.postgres) / passed,
      process: (after.crew - before.crew) / passed / processes,
      redisBytesPerStep: ((await usedBytes()) - emptyBytes) / queued,
      queued,
    };
  } finally {
    for (const member of crew) member.kill();
    await Promise.all(crew.map(({ ended }) => ended.catch(() => {})));
    await ledger.close();
    await folder.remove();
    stage.service.answerBy();
  }
}

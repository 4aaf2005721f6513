import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { expectNoLeak } from './leaks.js';
import { type RunningRedis, redisNeeds, startRedis } from './redis.js';

/** One server for the tests of the current suite, empty for each of them, which are skipped where there is none. */
export function useRedis(): () => RunningRedis {
  beforeEach(({ skip }) => skip(redisNeeds !== undefined, redisNeeds));

  let running: RunningRedis | undefined;
  beforeAll(async () => {
    if (redisNeeds === undefined) running = await startRedis();
  });
  afterEach(async () => {
    if (running === undefined) return;
    expectNoLeak('Redis', await running.readEverything());
    await running.flushAll();
  });
  afterAll(() => running?.close());

  return () => {
    if (running === undefined) throw new Error('Redis was not started');
    return running;
  };
}

import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createBullmqQueue } from '../../src/queue/bullmq.js';
import { describeQueueContract } from '../contracts/queue.js';
import { type RunningRedis, redisNeeds, startRedis } from '../support/redis.js';

let redis: RunningRedis;

beforeEach(({ skip }) => skip(redisNeeds !== undefined, redisNeeds));
beforeAll(async () => {
  if (redisNeeds === undefined) redis = await startRedis();
});
afterAll(() => redis?.close());

describeQueueContract('the queue on Redis', {
  async create(options) {
    const queue = createBullmqQueue({
      ...options,
      url: redis.url,
      clock: () => Date.now(),
      onNotice: () => {},
    });
    return { queue, cleanUp: () => redis.flushAll() };
  },
});

import { createBullmqQueue } from '../../src/queue/bullmq.js';
import { describeQueueContract } from '../contracts/queue.js';
import { useRedis } from '../support/use-servers.js';

const redis = useRedis();

describeQueueContract('the queue on Redis', {
  async create(options) {
    const queue = createBullmqQueue({
      ...options,
      url: redis().url,
      clock: () => Date.now(),
      onNotice: () => {},
    });
    return { queue, cleanUp: () => redis().flushAll() };
  },
});

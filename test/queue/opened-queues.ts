import { afterEach } from 'vitest';
import { type BullmqQueueOptions, createBullmqQueue } from '../../src/queue/bullmq.js';
import type { QueueNotice } from '../../src/queue/redis-connection.js';
import { createWorker } from '../contracts/queue-worker.js';

/** Queues like those of separate processes on one Redis, closed after each test. */
export function useQueues() {
  const opened: ReturnType<typeof createBullmqQueue>[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((queue) => queue.close()));
  });

  return (options: Partial<BullmqQueueOptions> & { readonly url: string }) => {
    const notices: QueueNotice[] = [];
    const queue = createBullmqQueue({
      concurrency: 1,
      clock: () => Date.now(),
      onNotice: (notice) => notices.push(notice),
      ...options,
    });
    opened.push(queue);
    return { queue, worker: createWorker(queue), notices };
  };
}

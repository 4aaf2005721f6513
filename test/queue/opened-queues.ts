import { afterEach } from 'vitest';
import { type BullmqQueueOptions, createBullmqQueue } from '../../src/queue/bullmq.js';
import type { QueueNotice } from '../../src/queue/redis-connection.js';
import { createWorker } from '../contracts/queue-worker.js';

/** How long tests let Redis take to answer: short, as refused steps wait for it, but enough for a busy machine. */
export const answerMs = 3_000;

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

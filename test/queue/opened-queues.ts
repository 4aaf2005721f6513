import { afterEach, vi } from 'vitest';
import type { QueuedStep } from '../../src/booking/step-queue.js';
import { type BullmqQueueOptions, createBullmqQueue } from '../../src/queue/bullmq.js';
import type { QueueNotice } from '../../src/queue/redis-connection.js';
import { createWorker } from '../contracts/queue-worker.js';
import { patienceMs } from '../support/patience.js';

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

export function stepsOf(runId: string, count: number): QueuedStep[] {
  return Array.from({ length: count }, (_, index) => ({ runId, step: `batch ${index}`, attempt: 1 }));
}

/** Polls until the expectation holds. */
export function settled(expectation: () => void): Promise<void> {
  return vi.waitFor(expectation, { timeout: patienceMs, interval: 5 });
}

import { setMaxListeners } from 'node:events';
import PQueue from 'p-queue';
import type { PerformStep, QueuedStep, StepQueue, StepReference } from './queue.js';

/** References that wait in memory at most: the ledger holds the rest. */
const backlogLimit = 1_000;
/** A timer set for longer goes off at once. */
const longestTimerMs = 2 ** 31 - 1;

export interface InProcessQueueOptions {
  readonly concurrency: number;
  /** Steps handed out a second at most. */
  readonly perSecond?: number | undefined;
  readonly clock: () => number;
}

/** A reference that was not handed out yet. */
interface Waiting {
  readonly runId: string;
  forget(): void;
}

/** The embedded queue: p-queue for order, concurrency and pace, and a timer for each step that is not due yet. */
export function createInProcessQueue({ concurrency, perSecond, clock }: InProcessQueueOptions): StepQueue {
  const queue = new PQueue({ concurrency, ...(perSecond !== undefined && pace(perSecond)) });
  const waiting = new Set<Waiting>();
  const stopping = new AbortController();
  const stopped = new Promise((resolve) =>
    stopping.signal.addEventListener('abort', resolve, { once: true }),
  );
  const abandoning = new AbortController();
  // Every step in hand listens to it: many listeners are no leak here.
  setMaxListeners(0, abandoning.signal);
  let held: NodeJS.Timeout | undefined;
  let heldUntil = 0;
  let perform: PerformStep | undefined;
  let onError: (error: unknown, reference: StepReference) => void = () => {};
  let closing: Promise<void> | undefined;
  queue.pause();

  async function handOut(reference: StepReference): Promise<void> {
    if (stopping.signal.aborted || !perform) return;
    try {
      await perform(reference, abandoning.signal);
    } catch (error) {
      onError(error, reference);
    }
  }

  function enqueue(step: QueuedStep): void {
    const ticket = new AbortController();
    const entry = { runId: step.runId, forget: () => ticket.abort() };
    waiting.add(entry);
    const handIn = () => {
      waiting.delete(entry);
      return handOut(step);
    };
    // It rejects for a reference that was forgotten, and for nothing else.
    queue.add(handIn, { signal: ticket.signal, priority: step.isUrgent ? 1 : 0 }).catch(() => {});
  }

  function enqueueWhenDue(step: QueuedStep): void {
    const delay = (step.notBefore ?? 0) - clock();
    if (delay <= 0) return enqueue(step);
    const timer = setTimeout(
      () => {
        waiting.delete(entry);
        enqueueWhenDue(step);
      },
      Math.min(delay, longestTimerMs),
    );
    const entry = { runId: step.runId, forget: () => clearTimeout(timer) };
    waiting.add(entry);
  }

  function startWhenDue(): void {
    if (!perform || stopping.signal.aborted) return;
    const delay = heldUntil - clock();
    if (delay <= 0) {
      queue.start();
      return;
    }
    clearTimeout(held);
    held = setTimeout(startWhenDue, Math.min(delay, longestTimerMs));
  }

  function forget(isForgotten: (entry: Waiting) => boolean): void {
    for (const entry of [...waiting].filter(isForgotten)) {
      waiting.delete(entry);
      entry.forget();
    }
  }

  return {
    async add(steps) {
      for (const step of steps) {
        if (stopping.signal.aborted) return;
        enqueueWhenDue(step);
      }
    },
    async room() {
      if (queue.size >= backlogLimit) await Promise.race([queue.onSizeLessThan(backlogLimit), stopped]);
    },
    countWaiting: async () => waiting.size,
    work(performStep, options) {
      perform = performStep;
      onError = options.onError;
      startWhenDue();
    },
    async holdOff(until) {
      if (until <= heldUntil || until <= clock()) return;
      heldUntil = until;
      queue.pause();
      startWhenDue();
    },
    async drop(runId) {
      forget((entry) => entry.runId === runId);
    },
    close({ graceMs = 0 } = {}) {
      closing ??= closeQueue(graceMs);
      return closing;
    },
  };

  async function closeQueue(graceMs: number): Promise<void> {
    stopping.abort();
    clearTimeout(held);
    queue.clear();
    forget(() => true);
    const grace = setTimeout(() => abandoning.abort(new Error('the queue was closed')), graceMs);
    await queue.onPendingZero();
    clearTimeout(grace);
  }
}

/** Spread over the second rather than in one burst at its start. Timers count in whole milliseconds, and cut the rest. */
function pace(perSecond: number): { intervalCap: number; interval: number } {
  const ticksPerSecond = Math.min(perSecond, 50);
  const intervalCap = Math.max(1, Math.round(perSecond / ticksPerSecond));
  return { intervalCap, interval: Math.min(Math.ceil((1000 * intervalCap) / perSecond), longestTimerMs) };
}

import { setMaxListeners } from 'node:events';
import type { PerformStep, QueuedStep, StepQueue, StepReference } from '../review/queue.js';
import {
  createRateLimiter,
  longestTimerMs,
  type RateLimiter,
  type RateLimiterOptions,
} from './rate-limiter.js';

/** Maximum number of references waiting in memory; the ledger holds the rest. */
const backlogLimit = 1_000;

/** A reference that was not handed out yet. */
interface Waiting {
  readonly step: QueuedStep;
  forget(): void;
}

/**
 * Opens in-process queues for the runs of a process; they share one limit on concurrency and rate, and one hold-off.
 * A step that is not due yet has a timer of its own.
 */
export function createInProcessQueues(options: RateLimiterOptions): () => StepQueue {
  const limiter = createRateLimiter(options);
  return () => openQueue(limiter, options.clock);
}

function openQueue(limiter: RateLimiter, clock: () => number): StepQueue {
  const waiting = new Set<Waiting>();
  const inHand = new Set<Promise<void>>();
  const stopping = new AbortController();
  const abandoning = new AbortController();
  // Every step in progress adds a listener: many of them are no leak.
  setMaxListeners(0, abandoning.signal);
  let unregister: (() => void) | undefined;
  let perform: PerformStep | undefined;
  let onError: (error: unknown, reference: StepReference) => void = () => {};
  let closing: Promise<void> | undefined;
  /** References that are due and wait for their turn. */
  let backlog = 0;
  let capacityWaiters = new Set<() => void>();

  async function handOut(reference: StepReference, releaseSlot: () => void): Promise<void> {
    if (stopping.signal.aborted || !perform) return;
    try {
      await perform(reference, abandoning.signal, releaseSlot);
    } catch (error) {
      onError(error, reference);
    }
  }

  function takeFromBacklog(): void {
    backlog -= 1;
    if (backlog >= backlogLimit) return;
    for (const proceed of capacityWaiters) proceed();
    capacityWaiters = new Set();
  }

  function enqueue(step: QueuedStep): void {
    backlog += 1;
    const entry = {
      step,
      forget() {
        cancel();
        takeFromBacklog();
      },
    };
    waiting.add(entry);
    const cancel = limiter.schedule(async () => {
      waiting.delete(entry);
      takeFromBacklog();
      await new Promise<void>((releaseSlot) => {
        const performing = handOut(step, releaseSlot).finally(() => {
          inHand.delete(performing);
          releaseSlot();
        });
        inHand.add(performing);
      });
    }, step.isUrgent === true);
  }

  /** Before work starts, a step that is due stays here: in the limiter it would delay the other queues. */
  function keepUntilWork(step: QueuedStep): void {
    backlog += 1;
    const entry = { step, forget: takeFromBacklog };
    waiting.add(entry);
  }

  /** A timer counts elapsed time: what it has waited for is due, even if the clock was set back meanwhile. */
  function enqueueWhenDue(step: QueuedStep, delay = (step.notBefore ?? 0) - clock()): void {
    if (delay <= 0) return perform ? enqueue(step) : keepUntilWork(step);
    const waitMs = Math.min(delay, longestTimerMs);
    const timer = setTimeout(() => {
      waiting.delete(entry);
      enqueueWhenDue(step, delay - waitMs);
    }, waitMs);
    const entry = { step, forget: () => clearTimeout(timer) };
    waiting.add(entry);
  }

  function forget(isForgotten: (entry: Waiting) => boolean): QueuedStep[] {
    const forgotten = [...waiting].filter(isForgotten);
    for (const entry of forgotten) {
      waiting.delete(entry);
      entry.forget();
    }
    return forgotten.map(({ step }) => step);
  }

  return {
    async add(steps) {
      for (const step of steps) {
        if (stopping.signal.aborted) return;
        enqueueWhenDue(step);
      }
    },
    async waitForCapacity() {
      if (backlog >= backlogLimit && !stopping.signal.aborted)
        await new Promise<void>((resolve) => capacityWaiters.add(resolve));
    },
    countWaiting: async () => waiting.size,
    work(performStep, options) {
      if (stopping.signal.aborted) return;
      perform = performStep;
      onError = options.onError;
      // The limiter may be running already, for other queues: urgent steps go in first.
      const kept = forget(() => true);
      for (const step of kept.filter(({ isUrgent }) => isUrgent)) enqueueWhenDue(step);
      for (const step of kept.filter(({ isUrgent }) => !isUrgent)) enqueueWhenDue(step);
      unregister = limiter.join();
    },
    async holdOff(until) {
      return !stopping.signal.aborted && limiter.holdOff(until);
    },
    async drop(runId) {
      forget(({ step }) => step.runId === runId);
    },
    close({ graceMs = 0 } = {}) {
      closing ??= closeQueue(graceMs);
      return closing;
    },
  };

  async function closeQueue(graceMs: number): Promise<void> {
    stopping.abort();
    forget(() => true);
    for (const proceed of capacityWaiters) proceed();
    const grace = setTimeout(() => abandoning.abort(new Error('the queue was closed')), graceMs);
    while (inHand.size > 0) await Promise.all(inHand);
    clearTimeout(grace);
    unregister?.();
  }
}

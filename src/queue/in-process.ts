import { setMaxListeners } from 'node:events';
import type { PerformStep, QueuedStep, StepQueue, StepReference } from '../review/queue.js';
import { createLine, type Line, type LineOptions, longestTimerMs } from './rate-limiter.js';

/** References that wait in memory at most: the ledger holds the rest. */
const backlogLimit = 1_000;

/** A reference that was not handed out yet. */
interface Waiting {
  readonly step: QueuedStep;
  forget(): void;
}

/**
 * Opens embedded queues that share one concurrency, one pace and one patience: those of the runs of a process. p-queue
 * is for order, concurrency and pace, and a timer for each step that is not due yet.
 */
export function createInProcessQueues(options: LineOptions): () => StepQueue {
  const line = createLine(options);
  return () => openQueue(line, options.clock);
}

function openQueue(line: Line, clock: () => number): StepQueue {
  const waiting = new Set<Waiting>();
  const inHand = new Set<Promise<void>>();
  const stopping = new AbortController();
  const abandoning = new AbortController();
  // Every step in hand listens to it: many listeners are no leak here.
  setMaxListeners(0, abandoning.signal);
  let leave: (() => void) | undefined;
  let perform: PerformStep | undefined;
  let onError: (error: unknown, reference: StepReference) => void = () => {};
  let closing: Promise<void> | undefined;
  /** References that are due, and wait for their turn. */
  let backlog = 0;
  let tellRoom = new Set<() => void>();

  async function handOut(reference: StepReference, leave: () => void): Promise<void> {
    if (stopping.signal.aborted || !perform) return;
    try {
      await perform(reference, abandoning.signal, leave);
    } catch (error) {
      onError(error, reference);
    }
  }

  function takeFromBacklog(): void {
    backlog -= 1;
    if (backlog >= backlogLimit) return;
    for (const tell of tellRoom) tell();
    tellRoom = new Set();
  }

  function enqueue(step: QueuedStep): void {
    const ticket = new AbortController();
    backlog += 1;
    const entry = {
      step,
      forget() {
        ticket.abort();
        takeFromBacklog();
      },
    };
    waiting.add(entry);
    const begin = async () => {
      waiting.delete(entry);
      takeFromBacklog();
      const left = new Promise<void>((leave) => {
        const performing = handOut(step, leave).finally(() => {
          inHand.delete(performing);
          leave();
        });
        inHand.add(performing);
      });
      await left;
    };
    line.enter(begin, { isUrgent: step.isUrgent === true, signal: ticket.signal });
  }

  /** Before work begins, what is due waits with the rest: it has no place in a line that others are in. */
  function keepUntilWork(step: QueuedStep): void {
    backlog += 1;
    const entry = { step, forget: takeFromBacklog };
    waiting.add(entry);
  }

  function enqueueWhenDue(step: QueuedStep): void {
    const delay = (step.notBefore ?? 0) - clock();
    if (delay <= 0) return perform ? enqueue(step) : keepUntilWork(step);
    const timer = setTimeout(
      () => {
        waiting.delete(entry);
        enqueueWhenDue(step);
      },
      Math.min(delay, longestTimerMs),
    );
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
    async room() {
      if (backlog >= backlogLimit && !stopping.signal.aborted)
        await new Promise<void>((resolve) => tellRoom.add(resolve));
    },
    countWaiting: async () => waiting.size,
    work(performStep, options) {
      if (stopping.signal.aborted) return;
      perform = performStep;
      onError = options.onError;
      // The line may be moving already, for others: what is urgent goes in first.
      const kept = forget(() => true);
      for (const step of kept.filter(({ isUrgent }) => isUrgent)) enqueueWhenDue(step);
      for (const step of kept.filter(({ isUrgent }) => !isUrgent)) enqueueWhenDue(step);
      leave = line.join();
    },
    async holdOff(until) {
      if (!stopping.signal.aborted) line.holdOff(until);
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
    for (const tell of tellRoom) tell();
    const grace = setTimeout(() => abandoning.abort(new Error('the queue was closed')), graceMs);
    while (inHand.size > 0) await Promise.all(inHand);
    clearTimeout(grace);
    leave?.();
  }
}

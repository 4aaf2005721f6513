import { setMaxListeners } from 'node:events';
import type { PerformStep, QueuedStep, StepQueue, StepReference } from '../booking/step-queue.js';

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

function openQueue(limiter: ReturnType<typeof createRateLimiter>, clock: () => number): StepQueue {
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

  async function handOut(reference: StepReference, releasePermit: () => void): Promise<void> {
    if (stopping.signal.aborted || !perform) return;
    try {
      await perform(reference, abandoning.signal, releasePermit);
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
      await new Promise<void>((releasePermit) => {
        const performing = handOut(step, releasePermit).finally(() => {
          inHand.delete(performing);
          releasePermit();
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

  /**
   * A timer counts elapsed time: what it has waited for is due, even if the clock was set back meanwhile. It counts whole
   * milliseconds and may end within the last one, hence one more.
   */
  function enqueueWhenDue(step: QueuedStep, delay = (step.notBefore ?? 0) - clock()): void {
    if (delay <= 0) return perform ? enqueue(step) : keepUntilWork(step);
    const waitMs = Math.min(delay + 1, longestTimerMs);
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
    check: async () => {},
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

/** A timer set for longer fires at once. */
const longestTimerMs = 2 ** 31 - 1;

const noRate = { max: Number.POSITIVE_INFINITY, duration: 0 };
/** One process alone can start steps more smoothly than many that share a rate. */
const portionsPerSecond = 50;

interface RateLimiterOptions {
  readonly concurrency: number;
  /** Maximum number of steps started per second. */
  readonly perSecond?: number | undefined;
  readonly clock: () => number;
}

interface Scheduled {
  readonly task: () => Promise<void>;
  isCancelled: boolean;
}

/** Limits the concurrency and the rate of all the queues of one process together. */
function createRateLimiter({ concurrency, perSecond, clock }: RateLimiterOptions) {
  const { max, duration } = perSecond === undefined ? noRate : spread(perSecond, portionsPerSecond);
  let urgent: Scheduled[] = [];
  let others: Scheduled[] = [];
  let running = 0;
  // By the monotonic clock: a wall clock that is set back must not prolong a pause.
  let heldUntil = 0;
  let interval = { end: 0, started: 0 };
  let timer: NodeJS.Timeout | undefined;
  let members = 0;

  function takeNext(): Scheduled | undefined {
    for (;;) {
      const next = urgent.shift() ?? others.shift();
      if (!next?.isCancelled) return next;
    }
  }

  /** How long nothing may start. */
  function findDelay(now: number): number {
    if (interval.end <= now) interval = { end: now + duration, started: 0 };
    return Math.max(heldUntil, interval.started < max ? 0 : interval.end) - now;
  }

  function startWhatIsDue(): void {
    clearTimeout(timer);
    while (members > 0 && running < concurrency && urgent.length + others.length > 0) {
      const delay = findDelay(performance.now());
      if (delay > 0) {
        timer = setTimeout(startWhatIsDue, Math.min(delay, longestTimerMs));
        return;
      }
      const next = takeNext();
      if (next) void run(next.task);
    }
  }

  async function run(task: () => Promise<void>): Promise<void> {
    running += 1;
    interval.started += 1;
    try {
      await task();
    } finally {
      running -= 1;
      startWhatIsDue();
    }
  }

  return {
    /** Starts `task` when its turn comes. Returns a function that cancels that. */
    schedule(task: () => Promise<void>, isUrgent: boolean): () => void {
      const waiting = { task, isCancelled: false };
      (isUrgent ? urgent : others).push(waiting);
      startWhatIsDue();
      return () => {
        waiting.isCancelled = true;
      };
    },
    /** Starts nothing before that instant. Returns whether no hold-off was in force before. */
    holdOff(until: number): boolean {
      const now = performance.now();
      const asked = now + until - clock();
      if (asked <= heldUntil || asked <= now) return false;
      const isNew = heldUntil <= now;
      heldUntil = asked;
      startWhatIsDue();
      return isNew;
    },
    /** Registers a working queue. Returns a function that unregisters it; after the last one no timer is left. */
    join(): () => void {
      members += 1;
      startWhatIsDue();
      let isMember = true;
      return () => {
        if (!isMember) return;
        isMember = false;
        members -= 1;
        if (members > 0) return;
        clearTimeout(timer);
        [urgent, others] = [[], []];
      };
    },
  };
}

/** Spreads steps over the second, in so many portions, instead of one burst at its start. */
export function spread(perSecond: number, portionsPerSecond: number) {
  const portions = Math.min(perSecond, portionsPerSecond);
  const max = Math.max(1, Math.round(perSecond / portions));
  // Timers count whole milliseconds and round down.
  return { max, duration: Math.ceil((1000 * max) / perSecond) };
}

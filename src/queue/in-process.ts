import type { QueuedStep, StepQueue } from '../booking/step-queue.js';
import { createStepsInHand, spread } from './steps-in-hand.js';

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
  let inHand: ReturnType<typeof createStepsInHand> | undefined;
  let isStopping = false;
  let closing: Promise<void> | undefined;
  /** References that are due and wait for their turn. */
  let backlog = 0;
  let capacityWaiters = new Set<() => void>();

  function takeFromBacklog(): void {
    backlog -= 1;
    if (backlog < backlogLimit) admit();
  }

  function admit(): void {
    for (const proceed of capacityWaiters) proceed();
    capacityWaiters = new Set();
  }

  function enqueue(step: QueuedStep): void {
    backlog += 1;
    const entry = { step, forget: takeFromBacklog };
    waiting.add(entry);
    // Before work starts, a step that is due stays here: in the limiter it would delay the other queues.
    const hands = inHand;
    if (!hands) return;
    const cancel = limiter.schedule(async () => {
      waiting.delete(entry);
      takeFromBacklog();
      await hands.perform(step);
    }, step.isUrgent === true);
    entry.forget = () => {
      cancel();
      takeFromBacklog();
    };
  }

  /**
   * A timer counts elapsed time: what it has waited for is due, even if the clock was set back meanwhile. It counts whole
   * milliseconds and may end within the last one, hence one more.
   */
  function enqueueWhenDue(step: QueuedStep, delay = (step.notBefore ?? 0) - clock()): void {
    if (delay <= 0) return enqueue(step);
    const waitMs = Math.min(delay + 1, longestTimerMs);
    const timer = setTimeout(() => {
      waiting.delete(entry);
      enqueueWhenDue(step, delay - waitMs);
    }, waitMs);
    const entry = { step, forget: () => clearTimeout(timer) };
    waiting.add(entry);
  }

  function forget(isForgotten: (step: QueuedStep) => boolean): QueuedStep[] {
    const forgotten = [...waiting].filter(({ step }) => isForgotten(step));
    for (const entry of forgotten) {
      waiting.delete(entry);
      entry.forget();
    }
    return forgotten.map(({ step }) => step);
  }

  return {
    async add(steps) {
      for (const step of steps) if (!isStopping) enqueueWhenDue(step);
    },
    async waitForCapacity() {
      if (backlog >= backlogLimit && !isStopping)
        await new Promise<void>((resolve) => capacityWaiters.add(resolve));
    },
    countWaiting: async () => waiting.size,
    check: async () => {},
    work(perform, { onError }) {
      if (isStopping) return;
      inHand = createStepsInHand(perform, onError);
      // The limiter may be running already, for other queues: urgent steps go in first.
      const kept = forget(() => true);
      for (const step of kept.filter(({ isUrgent }) => isUrgent)) enqueueWhenDue(step);
      for (const step of kept.filter(({ isUrgent }) => !isUrgent)) enqueueWhenDue(step);
    },
    async holdOff(until) {
      return !isStopping && limiter.holdOff(until);
    },
    async drop(runId) {
      forget((step) => step.runId === runId);
    },
    close({ graceMs = 0 } = {}) {
      closing ??= closeQueue(graceMs);
      return closing;
    },
  };

  async function closeQueue(graceMs: number): Promise<void> {
    isStopping = true;
    forget(() => true);
    await inHand?.end(graceMs);
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

/** Limits the concurrency and the rate of all the queues of one process together. */
function createRateLimiter({ concurrency, perSecond, clock }: RateLimiterOptions) {
  const { max, duration } = perSecond === undefined ? noRate : spread(perSecond, portionsPerSecond);
  const urgent = new Set<() => Promise<void>>();
  const others = new Set<() => Promise<void>>();
  let running = 0;
  // By the monotonic clock: a wall clock that is set back must not prolong a pause.
  let heldUntil = 0;
  let interval = { end: 0, started: 0 };
  let timer: NodeJS.Timeout | undefined;

  /** How long nothing may start. */
  function findDelay(now: number): number {
    if (interval.end <= now) interval = { end: now + duration, started: 0 };
    return Math.max(heldUntil, interval.started < max ? 0 : interval.end) - now;
  }

  function startWhatIsDue(): void {
    clearTimeout(timer);
    while (running < concurrency) {
      const [next] = urgent.size > 0 ? urgent : others;
      if (!next) return;
      const delay = findDelay(performance.now());
      if (delay > 0) {
        timer = setTimeout(startWhatIsDue, Math.min(delay, longestTimerMs));
        return;
      }
      cancel(next);
      void run(next);
    }
  }

  function cancel(task: () => Promise<void>): void {
    urgent.delete(task);
    others.delete(task);
    // The timer alone must not keep the process alive.
    if (urgent.size + others.size === 0) clearTimeout(timer);
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
      (isUrgent ? urgent : others).add(task);
      startWhatIsDue();
      return () => cancel(task);
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
  };
}

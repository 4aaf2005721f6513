/** A timer set for longer fires at once. */
export const longestTimerMs = 2 ** 31 - 1;

const noRate = { max: Number.POSITIVE_INFINITY, duration: 0 };
/** One process alone can start steps more smoothly than many that share a rate. */
const portionsPerSecond = 50;

export interface RateLimiterOptions {
  readonly concurrency: number;
  /** Maximum number of steps started per second. */
  readonly perSecond?: number | undefined;
  readonly clock: () => number;
}

interface Waiting {
  readonly task: () => Promise<void>;
  isCancelled: boolean;
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** Limits the concurrency and the rate of all the queues of one process together. */
export function createRateLimiter({ concurrency, perSecond, clock }: RateLimiterOptions) {
  const { max, duration } = perSecond === undefined ? noRate : spread(perSecond, portionsPerSecond);
  let urgent: Waiting[] = [];
  let others: Waiting[] = [];
  let running = 0;
  // By the monotonic clock: a wall clock that is set back must not prolong a pause.
  let heldUntil = 0;
  let interval = { end: 0, started: 0 };
  let timer: NodeJS.Timeout | undefined;
  let members = 0;

  function takeNext(): Waiting | undefined {
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

import PQueue from 'p-queue';

/** A timer set for longer fires at once. */
export const longestTimerMs = 2 ** 31 - 1;

export interface RateLimiterOptions {
  readonly concurrency: number;
  /** Maximum number of steps started per second. */
  readonly perSecond?: number | undefined;
  readonly clock: () => number;
}

/** Limits the concurrency and the rate of all the queues of one process together. */
export interface RateLimiter {
  /** Starts `task` when its turn comes; never once the signal has aborted. */
  schedule(
    task: () => Promise<void>,
    how: { readonly isUrgent: boolean; readonly signal: AbortSignal },
  ): void;
  /** Starts nothing before that instant. Returns whether no hold-off was in force before. */
  holdOff(until: number): boolean;
  /** Registers a working queue. Returns a function that unregisters it; after the last one no timer is left. */
  join(): () => void;
}

export function createRateLimiter({ concurrency, perSecond, clock }: RateLimiterOptions): RateLimiter {
  const queue = new PQueue({
    concurrency,
    autoStart: false,
    ...(perSecond !== undefined && spread(perSecond)),
  });
  /** By the monotonic clock: a wall clock that is set back must not prolong a pause. */
  let heldUntil = 0;
  let held: NodeJS.Timeout | undefined;
  let members = 0;

  function startWhenDue(): void {
    clearTimeout(held);
    if (members === 0) return;
    const delay = heldUntil - performance.now();
    if (delay <= 0) queue.start();
    else held = setTimeout(startWhenDue, Math.min(delay, longestTimerMs));
  }

  return {
    schedule(task, { isUrgent, signal }) {
      // Rejects only for a task that was aborted before its turn.
      queue.add(task, { signal, priority: isUrgent ? 1 : 0 }).catch(() => {});
    },
    holdOff(until) {
      const now = performance.now();
      const asked = now + until - clock();
      if (asked <= heldUntil || asked <= now) return false;
      const isNew = heldUntil <= now;
      heldUntil = asked;
      queue.pause();
      startWhenDue();
      return isNew;
    },
    join() {
      members += 1;
      startWhenDue();
      let isMember = true;
      return () => {
        if (!isMember) return;
        isMember = false;
        members -= 1;
        if (members > 0) return;
        clearTimeout(held);
        queue.pause();
        queue.clear();
      };
    },
  };
}

/** Spreads steps over the second instead of one burst at its start. Timers count whole milliseconds and round down. */
function spread(perSecond: number): { intervalCap: number; interval: number } {
  const ticksPerSecond = Math.min(perSecond, 50);
  const intervalCap = Math.max(1, Math.round(perSecond / ticksPerSecond));
  return { intervalCap, interval: Math.min(Math.ceil((1000 * intervalCap) / perSecond), longestTimerMs) };
}

import PQueue from 'p-queue';

/** A timer set for longer goes off at once. */
export const longestTimerMs = 2 ** 31 - 1;

export interface LineOptions {
  readonly concurrency: number;
  /** Steps handed out a second at most. */
  readonly perSecond?: number | undefined;
  readonly clock: () => number;
}

/** What the queues of one process stand in together: how much goes on at once, and how fast. */
export interface Line {
  /** Begins `task` when it is its turn; never, once the signal was aborted. */
  enter(task: () => Promise<void>, how: { readonly isUrgent: boolean; readonly signal: AbortSignal }): void;
  /** Begins nothing before that instant. */
  holdOff(until: number): void;
  /** A queue works from now on. Answers how it leaves: behind the last one no timer is left. */
  join(): () => void;
}

export function createLine({ concurrency, perSecond, clock }: LineOptions): Line {
  const queue = new PQueue({
    concurrency,
    autoStart: false,
    ...(perSecond !== undefined && pace(perSecond)),
  });
  let heldUntil = 0;
  let held: NodeJS.Timeout | undefined;
  let members = 0;

  function startWhenDue(): void {
    clearTimeout(held);
    if (members === 0) return;
    const delay = heldUntil - clock();
    if (delay <= 0) queue.start();
    else held = setTimeout(startWhenDue, Math.min(delay, longestTimerMs));
  }

  return {
    enter(task, { isUrgent, signal }) {
      // It rejects for a task that was given up, and for nothing else.
      queue.add(task, { signal, priority: isUrgent ? 1 : 0 }).catch(() => {});
    },
    holdOff(until) {
      if (until <= heldUntil || until <= clock()) return;
      heldUntil = until;
      queue.pause();
      startWhenDue();
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

/** Spread over the second rather than in one burst at its start. Timers count in whole milliseconds, and cut the rest. */
function pace(perSecond: number): { intervalCap: number; interval: number } {
  const ticksPerSecond = Math.min(perSecond, 50);
  const intervalCap = Math.max(1, Math.round(perSecond / ticksPerSecond));
  return { intervalCap, interval: Math.min(Math.ceil((1000 * intervalCap) / perSecond), longestTimerMs) };
}

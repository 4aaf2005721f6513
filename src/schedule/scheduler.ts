import type { RunName } from '../review/events.js';
import type { DueDay } from './due-days.js';
import { type Slots, watchSlots } from './slots.js';

/** What the schedulers of reviews and syncs report. No event holds guest data. */
export type SchedulerEvent =
  | { readonly type: 'due-day-started'; readonly dueDay: DueDay }
  | { readonly type: 'due-day-ended'; readonly dueDay: DueDay }
  /** Another process works on that day. */
  | { readonly type: 'day-busy'; readonly dueDay: DueDay }
  /** The review threw. The day stays due, and the next check finds it. */
  | { readonly type: 'due-day-failed'; readonly dueDay: DueDay; readonly error: unknown }
  /** Another process works on the current day: the next slot tries again. */
  | { readonly type: 'today-busy'; readonly day: string }
  /** Reviewing the current day threw: the next slot tries again. */
  | { readonly type: 'today-failed'; readonly day: string; readonly error: unknown }
  /** The source of a day did not arrive in time. Reported once, over all processes. */
  | { readonly type: 'source-given-up'; readonly run: RunName }
  /** The ledger did not say which days are due. The next check asks again. */
  | { readonly type: 'check-failed'; readonly error: unknown }
  /** A sync failed. It stays due, and the next check starts it again. */
  | { readonly type: 'sync-failed'; readonly error: unknown }
  /** What moved in the copy could not be compared with the current and upcoming stays: it is retried. */
  | { readonly type: 'watch-failed'; readonly error: unknown };

export type NotifyScheduler = (event: SchedulerEvent) => void;

export interface SchedulerParts {
  readonly slots: Slots;
  /** How often to check besides the slots: a slot may pass unnoticed, and what failed is tried again. */
  readonly checkMs: number;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly notify: NotifyScheduler;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * Checks at the start, at each slot and every `checkMs`, one check at a time. What becomes due during a check is
 * checked right after it.
 *
 * @param check finds out what is due and does it. It must not reject, and must end soon after the signal aborts
 */
export function createScheduler(
  { slots, checkMs, signal }: SchedulerParts,
  check: (stop: AbortSignal) => Promise<void>,
) {
  const closing = new AbortController();
  const stop = AbortSignal.any([signal, closing.signal]);
  let current: Promise<void> | undefined;
  let isAskedAgain = false;

  async function work(): Promise<void> {
    do {
      isAskedAgain = false;
      await check(stop);
    } while (isAskedAgain && !stop.aborted);
  }

  function ask(): void {
    if (stop.aborted) return;
    isAskedAgain = true;
    current ??= work().finally(() => {
      current = undefined;
    });
  }

  return {
    /** Checks for the first time, and starts to watch the slots. Called once. */
    start(): void {
      if (stop.aborted) return;
      ask();
      const timer = setInterval(ask, checkMs);
      stop.addEventListener('abort', () => clearInterval(timer), { once: true });
      void watchSlots(slots, ask, stop);
    },
    /** Starts no more checks, aborts the one in progress, and waits for it. Idempotent. */
    async close(): Promise<void> {
      closing.abort();
      await current;
    },
  };
}

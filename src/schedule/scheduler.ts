import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import type { Ledger } from '../ledger/ledger.js';
import { SyncBusyError } from '../mappings/sync-mappings.js';
import { DayBusyError } from '../review/day/join-run.js';
import { type CronTimes, watchCronTimes } from './cron-times.js';
import type { DueDay } from './due-days.js';
import type { NotifyScheduler } from './events.js';

export interface SchedulerParts {
  readonly cronTimes: CronTimes;
  /** How often to check besides the cron times: a cron time may pass unnoticed, and what failed is tried again. */
  readonly checkMs: number;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly notify: NotifyScheduler;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

export type Scheduler = Pick<ReturnType<typeof createScheduler>, 'start' | 'close'>;

/**
 * Checks at the start, at each cron time and every `checkMs`, one check at a time. What becomes due during a check is
 * checked right after it.
 *
 * @param check finds out what is due and does it. It must not reject, and must end soon after the signal aborts
 */
export function createScheduler(
  { cronTimes, checkMs, signal }: SchedulerParts,
  check: (stop: AbortSignal) => Promise<void>,
) {
  const closing = new AbortController();
  const stop = AbortSignal.any([signal, closing.signal]);
  const { ask, idle } = createRounds(check, stop);

  return {
    /** Checks as soon as no check is in progress. */
    ask,
    /** Checks for the first time, and starts to watch the cron times. Called once. */
    start(): void {
      if (stop.aborted) return;
      ask();
      const timer = setInterval(ask, checkMs);
      stop.addEventListener('abort', () => clearInterval(timer), { once: true });
      void watchCronTimes(cronTimes, ask, stop);
    },
    /** Starts no more checks, aborts the one in progress, and waits for it. Idempotent. */
    async close(): Promise<void> {
      closing.abort();
      await idle();
    },
  };
}

/**
 * Work that is done in rounds, one at a time: whoever asks during a round gets another one right after it.
 *
 * @param work must not reject
 */
export function createRounds(work: (stop: AbortSignal) => Promise<void>, stop: AbortSignal) {
  let current: Promise<void> | undefined;
  let isAskedAgain = false;

  async function workOn(): Promise<void> {
    do {
      isAskedAgain = false;
      await work(stop);
    } while (isAskedAgain && !stop.aborted);
    // In the same turn: whoever asks from now on begins another round.
    current = undefined;
  }

  return {
    ask(): void {
      if (stop.aborted) return;
      isAskedAgain = true;
      current ??= workOn();
    },
    /** Waits for the rounds in progress. */
    async idle(): Promise<void> {
      await current;
    },
  };
}

/** Reviews a day that is due, and says how that went. */
export async function reviewDueDay(
  dueDay: DueDay,
  review: () => Promise<unknown>,
  notify: NotifyScheduler,
): Promise<void> {
  notify({ type: 'due-day-started', dueDay });
  try {
    await review();
    notify({ type: 'due-day-ended', dueDay });
  } catch (error) {
    const isBusy = error instanceof DayBusyError;
    notify(isBusy ? { type: 'day-busy', dueDay } : { type: 'due-day-failed', dueDay, error });
  }
}

export interface SyncSchedulerParts extends SchedulerParts {
  readonly ledger: Ledger;
  /** It must end soon after the signal aborts. */
  readonly sync: (signal: AbortSignal) => Promise<unknown>;
  /** Compares what moved with the current and upcoming stays. It must end soon after the signal aborts. */
  readonly watch: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Keeps the local copy up to date: a sync is due when none has ended since the last cron time. Failed syncs are resumed and missed
 * ones made up for. Of several processes one syncs; the others find it busy, and then done.
 *
 * It watches after each sync, and at the start, in case an earlier process was stopped in between.
 */
export function createSyncScheduler(parts: SyncSchedulerParts): Scheduler {
  const { ledger, cronTimes, sync, watch, clock, notify } = parts;
  let isWatched = false;

  async function isDue(): Promise<boolean> {
    const cronTime = cronTimes.last(new Date(clock()));
    if (!cronTime) return false;
    const latest = await ledger.mappings.latestSync();
    return latest?.endedAt === undefined || latest.endedAt < cronTime.getTime();
  }

  /** False if the copy is not up to date. */
  async function syncWhenDue(stop: AbortSignal): Promise<boolean> {
    try {
      if (!(await isDue())) return true;
      isWatched = false;
      await sync(stop);
      return true;
    } catch (error) {
      // Another process is doing what was due here.
      if (!stop.aborted && !(error instanceof SyncBusyError)) notify({ type: 'sync-failed', error });
      return false;
    }
  }

  return createScheduler(parts, async (stop) => {
    if (!(await syncWhenDue(stop)) || isWatched || stop.aborted) return;
    try {
      await watch(stop);
      isWatched = true;
    } catch (error) {
      if (!stop.aborted) notify({ type: 'watch-failed', error });
    }
  });
}

/** How long before the nightly run a run of today stops. */
const stopBeforeMs = 60_000;

export interface TodaySchedulerParts extends SchedulerParts {
  /** The cron times of the nightly run. */
  readonly nights: CronTimes;
  /** Whether a run of today stops before the nightly run of its day; false if the two don't get in each other's way. */
  readonly stopsBeforeNight: boolean;
  /**
   * Reviews a day. It must end soon after the signal aborts.
   *
   * @param cronTimeAt there is nothing to do for a day that has been reviewed since then
   */
  readonly review: (day: BusinessDay, cronTimeAt: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Reviews the current day again and again, one run at a time. The cron time's own day is reviewed, and only while it lasts;
 * afterwards it is left to the nightly run. Which process reviews it, and whether a cron time has been taken care of, is
 * decided from the ledger, so that any number of processes may do this.
 */
export function createTodayScheduler(parts: TodaySchedulerParts): Scheduler {
  const { cronTimes, nights, stopsBeforeNight, review, clock, notify } = parts;

  return createScheduler(parts, async (stop) => {
    const now = new Date(clock());
    const cronTime = cronTimes.last(now);
    const today = businessDayAt(now, cronTimes.zone);
    if (!cronTime || businessDayAt(cronTime, cronTimes.zone).iso !== today.iso) return;
    // The nightly run takes over an unfinished run; one that is still sending would keep it waiting.
    const night = stopsBeforeNight ? nights.next(today.lastInstant) : undefined;
    const beforeNight = new AbortController();
    const untilNight =
      night &&
      setInterval(() => {
        if (clock() >= night.getTime() - stopBeforeMs) beforeNight.abort();
      }, stopBeforeMs / 4);
    try {
      await review(today, cronTime.getTime(), AbortSignal.any([stop, beforeNight.signal]));
    } catch (error) {
      if (stop.aborted) return;
      notify(
        error instanceof DayBusyError
          ? { type: 'today-busy', day: today.iso }
          : { type: 'today-failed', day: today.iso, error },
      );
    } finally {
      clearInterval(untilNight);
    }
  });
}

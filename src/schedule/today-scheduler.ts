import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import { DayBusyError } from '../review/refusals.js';
import type { Schedule } from './schedule.js';
import type { NotifyScheduler } from './scheduler-event.js';
import type { Slots } from './slots.js';

/** How long before its night a run of today makes room for it. */
const leaveMs = 60_000;

export interface TodayReview {
  readonly trigger: 'today';
  /** A day that has been reviewed since then has nothing to do. */
  readonly slotAt: number;
}

export interface TodaySchedulerParts {
  readonly schedule: Schedule;
  /** When the current day is reviewed. */
  readonly slots: Slots;
  /** The slots of the nightly run. */
  readonly nights: Slots;
  /** False where a run of today and the nightly run of its day don't get in each other's way. */
  readonly leavesForNight: boolean;
  /** Reviews a day. It must end soon after the signal aborts. */
  readonly review: (day: BusinessDay, request: TodayReview, signal: AbortSignal) => Promise<unknown>;
  /** How often to look whether a slot passed unnoticed. */
  readonly checkMs: number;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly notify: NotifyScheduler;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

export interface TodayScheduler {
  /** Reviews the current day if a slot of it has passed, and starts to watch the schedule. Called once. */
  start(): Promise<void>;
  /** Starts no more reviews, aborts the one in progress, and waits for it. Idempotent. */
  close(): Promise<void>;
}

/**
 * Reviews the current day again and again, one run at a time: at the start, at each slot and every `checkMs`. The slot's own
 * day is reviewed, and only while it lasts; afterwards it is the night's. Which process reviews it, and whether a slot has
 * been taken care of, is decided from the ledger, so that any number of processes may do this.
 */
export function createTodayScheduler(parts: TodaySchedulerParts): TodayScheduler {
  const { schedule, slots, nights, leavesForNight, review, checkMs, clock, notify } = parts;
  const closing = new AbortController();
  const stop = AbortSignal.any([parts.signal, closing.signal]);
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> | undefined;
  let isAskedAgain = false;
  let closed: Promise<void> | undefined;

  async function reviewToday(): Promise<void> {
    const now = new Date(clock());
    const slot = slots.last(now);
    const today = businessDayAt(now, slots.zone);
    if (!slot || businessDayAt(slot, slots.zone).iso !== today.iso) return;
    const untilNight = leavesForNight ? startTimerUntilNight(today) : undefined;
    try {
      const signal = untilNight ? AbortSignal.any([stop, untilNight.signal]) : stop;
      await review(today, { trigger: 'today', slotAt: slot.getTime() }, signal);
    } catch (error) {
      if (stop.aborted) return;
      notify(
        error instanceof DayBusyError
          ? { type: 'today-busy', day: today.iso }
          : { type: 'today-failed', day: today.iso, error },
      );
    } finally {
      untilNight?.clear();
    }
  }

  /** A run that the night finds unfinished is taken over; one that still sends would keep the night waiting. */
  function startTimerUntilNight({ lastInstant }: BusinessDay) {
    const night = nights.next(lastInstant);
    const ending = new AbortController();
    if (!night) return { signal: ending.signal, clear: () => {} };
    const leaveAt = night.getTime() - leaveMs;
    const check = setInterval(() => {
      if (clock() >= leaveAt) ending.abort();
    }, leaveMs / 4);
    return { signal: ending.signal, clear: () => clearInterval(check) };
  }

  async function work(): Promise<void> {
    do {
      isAskedAgain = false;
      await reviewToday();
    } while (isAskedAgain && !stop.aborted);
  }

  function check(): void {
    if (stop.aborted) return;
    isAskedAgain = true;
    current ??= work().finally(() => {
      current = undefined;
    });
  }

  async function close(): Promise<void> {
    closing.abort();
    clearInterval(timer);
    await Promise.all([schedule.close(), current]);
  }

  return {
    async start() {
      if (stop.aborted) return;
      check();
      timer = setInterval(check, checkMs);
      await schedule.start(check);
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}

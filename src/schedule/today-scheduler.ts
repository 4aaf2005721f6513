import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import { DayBusyError } from '../review/refusals.js';
import { createRepeatedCheck, type RepeatedCheck, type RepeatedCheckParts } from './repeated-check.js';
import type { NotifyScheduler } from './scheduler-event.js';
import type { Slots } from './slots.js';

/** How long before the nightly run a run of today stops. */
const stopBeforeMs = 60_000;

export interface TodaySchedulerParts extends Omit<RepeatedCheckParts, 'check'> {
  /** When the current day is reviewed. */
  readonly slots: Slots;
  /** The slots of the nightly run. */
  readonly nights: Slots;
  /** Whether a run of today stops before the nightly run of its day; false if the two don't get in each other's way. */
  readonly stopsBeforeNight: boolean;
  /**
   * Reviews a day. It must end soon after the signal aborts.
   *
   * @param slotAt there is nothing to do for a day that has been reviewed since then
   */
  readonly review: (day: BusinessDay, slotAt: number, signal: AbortSignal) => Promise<unknown>;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly notify: NotifyScheduler;
}

/**
 * Reviews the current day again and again, one run at a time. The slot's own day is reviewed, and only while it lasts;
 * afterwards it is left to the nightly run. Which process reviews it, and whether a slot has been taken care of, is
 * decided from the ledger, so that any number of processes may do this.
 */
export function createTodayScheduler(parts: TodaySchedulerParts): RepeatedCheck {
  const { slots, nights, stopsBeforeNight, review, clock, notify } = parts;

  async function reviewToday(stop: AbortSignal): Promise<void> {
    const now = new Date(clock());
    const slot = slots.last(now);
    const today = businessDayAt(now, slots.zone);
    if (!slot || businessDayAt(slot, slots.zone).iso !== today.iso) return;
    const untilNight = stopsBeforeNight ? startTimerUntilNight(today) : undefined;
    try {
      const signal = untilNight ? AbortSignal.any([stop, untilNight.signal]) : stop;
      await review(today, slot.getTime(), signal);
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

  /** The nightly run takes over an unfinished run; one that is still sending would keep it waiting. */
  function startTimerUntilNight({ lastInstant }: BusinessDay) {
    const night = nights.next(lastInstant);
    const ending = new AbortController();
    if (!night) return { signal: ending.signal, clear: () => {} };
    const stopAt = night.getTime() - stopBeforeMs;
    const check = setInterval(() => {
      if (clock() >= stopAt) ending.abort();
    }, stopBeforeMs / 4);
    return { signal: ending.signal, clear: () => clearInterval(check) };
  }

  return createRepeatedCheck({ ...parts, check: reviewToday });
}

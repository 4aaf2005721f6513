import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import { DayBusyError } from '../review/day/join-run.js';
import { createScheduler, type Scheduler, type SchedulerParts } from './scheduler.js';
import type { Slots } from './slots.js';

/** How long before the nightly run a run of today stops. */
const stopBeforeMs = 60_000;

export interface TodaySchedulerParts extends SchedulerParts {
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
}

/**
 * Reviews the current day again and again, one run at a time. The slot's own day is reviewed, and only while it lasts;
 * afterwards it is left to the nightly run. Which process reviews it, and whether a slot has been taken care of, is
 * decided from the ledger, so that any number of processes may do this.
 */
export function createTodayScheduler(parts: TodaySchedulerParts): Scheduler {
  const { slots, nights, stopsBeforeNight, review, clock, notify } = parts;

  return createScheduler(parts, async (stop) => {
    const now = new Date(clock());
    const slot = slots.last(now);
    const today = businessDayAt(now, slots.zone);
    if (!slot || businessDayAt(slot, slots.zone).iso !== today.iso) return;
    // The nightly run takes over an unfinished run; one that is still sending would keep it waiting.
    const night = stopsBeforeNight ? nights.next(today.lastInstant) : undefined;
    const beforeNight = new AbortController();
    const untilNight =
      night &&
      setInterval(() => {
        if (clock() >= night.getTime() - stopBeforeMs) beforeNight.abort();
      }, stopBeforeMs / 4);
    try {
      await review(today, slot.getTime(), AbortSignal.any([stop, beforeNight.signal]));
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

import { Cron, type CronOptions } from 'croner';
import { type BusinessDay, businessDayAt } from '../booking/business-day.js';

/**
 * The slots of a cron pattern in a zone: the instants at which the nightly run is due.
 *
 * A time of the day that the clocks leave out comes at the moment to which they jump, and one that they show twice
 * comes once, the first time; this goes for patterns whose minutes and hours are numbers, lists and ranges. Where they
 * are `*` or a step, the slots follow the clock: none in the hour left out, some in each of the two same hours.
 */
export interface Slots {
  /** As it was given: five fields. */
  readonly pattern: string;
  /** IANA name */
  readonly zone: string;
  /** The last slot at or before an instant; undefined when there was none since the year 1. */
  last(at: Date): Date | undefined;
  /** The first slot after an instant; undefined when there is none to come. */
  next(after: Date): Date | undefined;
}

/**
 * Reads a pattern of five fields: minute, hour, day of the month, month, day of the week. A sixth before them counts
 * seconds.
 *
 * @throws RangeError for a pattern that can't be read or that has no slot at all, and for an unknown zone.
 */
export function createSlots(pattern: string, zone: string): Slots {
  const cron = readPattern(pattern, zone);
  const slots: Slots = {
    pattern,
    zone,
    // croner looks strictly before the instant that it is given.
    last: (at) => cron.previousRuns(1, new Date(at.getTime() + 1))[0],
    next: (after) => cron.nextRun(after) ?? undefined,
  };
  if (!slots.next(new Date(0)))
    throw new RangeError(`the cron pattern ${JSON.stringify(pattern)} names no date that ever comes`);
  return slots;
}

/**
 * The day that the slot is for: the day before the slot's own day in the zone. It comes from the slot, never from the
 * time at which somebody got round to it. A day that the zone left out of its calendar (Pacific/Apia, 2011-12-30) has
 * no bookings: there it is the day before that one.
 */
export function businessDayOf(slot: Date, zone: string): BusinessDay {
  return lastDayBefore(businessDayAt(slot, zone));
}

/** The day before, past days that hold no instant. */
export function lastDayBefore(day: BusinessDay): BusinessDay {
  const before = day.previous();
  return holdsInstants(before) ? before : lastDayBefore(before);
}

/** False for a day that a zone left out of its calendar. */
export function holdsInstants(day: BusinessDay): boolean {
  return day.firstInstant.getTime() <= day.lastInstant.getTime();
}

/** How croner reads a pattern here. */
export function cronRules(zone: string): CronOptions {
  return { timezone: zone, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' };
}

function readPattern(pattern: string, zone: string): Cron {
  try {
    // Without a function it counts, and sets no timer.
    const cron = new Cron(pattern, cronRules(zone));
    cron.nextRun();
    return cron;
  } catch (error) {
    throw new RangeError(
      `expected five cron fields such as "30 2 * * *" and a time zone such as Europe/Madrid, got: ` +
        `${JSON.stringify(pattern)} and ${JSON.stringify(zone)}`,
      { cause: error },
    );
  }
}

import { Cron, type CronOptions } from 'croner';
import { type BusinessDay, businessDayAt, lastDayBefore } from '../booking/business-day.js';

/**
 * The slots of a cron pattern in a zone: the instants at which the nightly run is due.
 *
 * A time that the clocks skip falls on the moment to which they jump, and a time that they repeat counts once, at its first
 * occurrence. This holds for patterns whose minutes and hours are numbers, lists and ranges. With `*` or a step the slots
 * follow the clock: none in the skipped hour, some in both of the repeated hours.
 */
export interface Slots {
  /** Five fields, as configured. */
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
 * @throws RangeError for an invalid pattern, one without any slot, and an unknown zone
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
 * The business day of a slot: the day before the slot's own day in the zone. It is derived from the slot, never from the time
 * at which the work starts. A day that the zone's calendar skipped (Pacific/Apia, 2011-12-30) has no bookings: there it is the
 * day before that one.
 */
export function businessDayOf(slot: Date, zone: string): BusinessDay {
  return lastDayBefore(businessDayAt(slot, zone));
}

/** The croner options for reading a pattern. */
export function cronRules(zone: string): CronOptions {
  return { timezone: zone, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' };
}

function readPattern(pattern: string, zone: string): Cron {
  try {
    // Without a function it only computes times, and sets no timer.
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

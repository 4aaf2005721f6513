import { Cron } from 'croner';
import { pause } from '../base/abort.js';
import {
  type BusinessDay,
  businessDayAt,
  createBusinessDay,
  lastDayBefore,
  readLocalClock,
} from '../booking/business-day.js';

/**
 * The cron times of a cron pattern in a zone: the instants at which the nightly run is due.
 *
 * A time that the clocks skip falls on the moment to which they jump, be it on the next day, and a time that they repeat
 * counts once, at its first occurrence. This holds for patterns whose minutes and hours are numbers, lists and ranges. With
 * `*` or a step the cron times follow the clock: none in the skipped hour, some in both of the repeated hours.
 */
export interface CronTimes {
  /** Five fields, as configured. */
  readonly pattern: string;
  /** IANA name */
  readonly zone: string;
  /** The last cron time at or before an instant; undefined when there was none since the year 1. */
  last(at: Date): Date | undefined;
  /** The first cron time after an instant; undefined when there is none to come. */
  next(after: Date): Date | undefined;
}

/**
 * Reads a pattern of five fields: minute, hour, day of the month, month, day of the week. A sixth before them counts
 * seconds.
 *
 * @throws RangeError for an invalid pattern, one without any cron time, and an unknown zone
 */
export function createCronTimes(pattern: string, zone: string): CronTimes {
  const cron = readPattern(pattern, zone);
  const skipped = hasFixedTimes(pattern) ? createSkippedTimes(pattern, zone) : undefined;
  const cronTimes: CronTimes = {
    pattern,
    zone,
    last(at) {
      // croner looks strictly before the instant that it is given.
      const found = cron.previousRuns(1, new Date(at.getTime() + 1))[0];
      const moved = skipped?.last(at);
      return found && moved && found > moved ? found : (moved ?? found);
    },
    next(after) {
      const found = cron.nextRun(after) ?? undefined;
      const moved = skipped?.next(after);
      return found && moved && found < moved ? found : (moved ?? found);
    },
  };
  if (!cronTimes.next(new Date(0)))
    throw new RangeError(`the cron pattern ${JSON.stringify(pattern)} names no date that ever comes`);
  return cronTimes;
}

/**
 * The business day of a cron time: the day before the cron time's own day in the zone. It is derived from the cron time, never from the time
 * at which the work starts. A day that the zone's calendar skipped (Pacific/Apia, 2011-12-30) has no bookings: there it is the
 * day before that one.
 */
export function businessDayOf(cronTime: Date, zone: string): BusinessDay {
  return lastDayBefore(businessDayAt(cronTime, zone));
}

/** Whether its hours, minutes and seconds are numbers, lists and ranges. */
function hasFixedTimes(pattern: string): boolean {
  const fields = pattern.trim().split(/\s+/);
  return !fields.slice(0, -3).some((field) => /[*?/]/.test(field));
}

/**
 * Cron times at a time that the clocks skip by jumping to another day (America/Nuuk, from 23:00 to midnight). croner leaves them
 * out, and moves only those that are skipped within a day.
 */
function createSkippedTimes(pattern: string, zone: string) {
  /** The times of the pattern, in a zone whose clocks never change. */
  const times = readPattern(pattern, 'UTC');
  const showLocal = (instant: Date) => new Date(readLocalClock(instant.getTime(), zone));
  const move = (time: Date | null | undefined): Date | undefined => {
    if (!time) return undefined;
    const { lastInstant } = createBusinessDay(time.toISOString().slice(0, 10), zone);
    return showLocal(lastInstant) < time ? new Date(lastInstant.getTime() + 1) : undefined;
  };
  return {
    last: (at: Date) => move(times.previousRuns(1, new Date(showLocal(at).getTime() + 1))[0]),
    next: (after: Date) => move(times.nextRun(showLocal(after))),
  };
}

function readPattern(pattern: string, zone: string): Cron {
  try {
    // Without a function it only computes times, and sets no timer.
    const cron = new Cron(pattern, { timezone: zone, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' });
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

/** The machine's clock may be set, and the machine may sleep. */
const longestWaitMs = 30_000;

/**
 * Calls back when a cron time has come, until the signal aborts. After sleeping past cron times it does so once, on waking.
 *
 * This is only a hint to check what is due, and may come late. Which days are due is decided from the ledger (due-days.ts), so
 * each process watches for itself.
 */
export async function watchCronTimes(
  cronTimes: CronTimes,
  onCronTime: () => void,
  signal: AbortSignal,
): Promise<void> {
  let due = cronTimes.next(new Date());
  while (due && !signal.aborted) {
    await pause(Math.min(due.getTime() - Date.now(), longestWaitMs), signal);
    if (signal.aborted || due.getTime() > Date.now()) continue;
    due = cronTimes.next(new Date());
    onCronTime();
  }
}

import type { BusinessDay } from '../../booking/business-day.js';
import { readDayBounds } from '../day-bounds.js';
import type { SqlDialect } from './query-text.js';

export const dayParameters = ['day', 'dayStart', 'dayEnd'] as const;

/**
 * `day` is the business day, `dayStart` its first instant, and `dayEnd` the first instant that no longer belongs to it:
 * `>= :dayStart AND < :dayEnd` are all of its 23, 24 or 25 hours.
 */
export type DayParameter = (typeof dayParameters)[number];

export function isDayParameter(name: string): name is DayParameter {
  return dayParameters.some((parameter) => parameter === name);
}

/**
 * A parameter as the database is given it, always a text: the day as YYYY-MM-DD; an instant in UTC, as ISO 8601 with
 * milliseconds and Z, or for MySQL as YYYY-MM-DD HH:MM:SS, for its types know no Z.
 */
export function writeDayParameter(
  parameter: DayParameter,
  day: Pick<BusinessDay, 'iso' | 'firstInstant' | 'lastInstant'>,
  dialect: SqlDialect,
): string {
  switch (parameter) {
    case 'day':
      return day.iso;
    case 'dayStart':
      return writeInstant(readDayBounds(day).start, dialect);
    case 'dayEnd':
      return writeInstant(readDayBounds(day).end, dialect);
  }
}

function writeInstant(instant: Date, dialect: SqlDialect): string {
  const iso = instant.toISOString();
  return dialect === 'mysql' ? `${iso.slice(0, 10)} ${iso.slice(11, 19)}` : iso;
}

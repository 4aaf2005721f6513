import { type BusinessDay, businessDayAt, createBusinessDay } from '../booking/business-day.js';

/**
 * How many days the reviews are behind: 0 if yesterday's bookings, or later ones, were reviewed, 1 if only those of the day before
 * were, and so on.
 *
 * @param day the last day with a run that succeeded, YYYY-MM-DD
 */
export function countDaysBehind(day: string, now: number, zone: string): number {
  const yesterday = businessDayAt(new Date(now), zone).previous();
  return Math.max(0, Math.round((utcMidnight(yesterday.iso) - utcMidnight(day)) / 86_400_000));
}

/** The end of a business day, in seconds since 1970. */
export function endOfDay(day: string, zone: string): number {
  return Math.floor((createBusinessDay(day, zone).lastInstant.getTime() + 1) / 1000);
}

/** The last `count` days up to today, newest first. */
export function listLastDays(count: number, now: number, zone: string): BusinessDay[] {
  const days = [businessDayAt(new Date(now), zone)];
  for (let day = days[0]; day && days.length < count; days.push(day)) day = day.previous();
  return days;
}

function utcMidnight(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

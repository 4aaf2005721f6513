import { type BusinessDay, businessDayAt, createBusinessDay } from '../booking/business-day.js';

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

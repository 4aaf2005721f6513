import { businessDayAt, instantAt } from '../booking/business-day.js';

/**
 * The last time of day at which a morning digest was due, and the day that it is about: the one before. Undefined if
 * that was before `countedFrom`.
 *
 * @param at the first time of day at which a channel gets it, HH:MM
 * @param countedFrom epoch milliseconds
 */
export function findDueDigest({
  at,
  now,
  countedFrom,
  timezone,
}: {
  readonly at: string;
  readonly now: number;
  readonly countedFrom: number;
  readonly timezone: string;
}): { readonly date: string; readonly day: string } | undefined {
  const today = businessDayAt(new Date(now), timezone);
  const date = instantAt(today, at).getTime() <= now ? today : today.previous();
  if (instantAt(date, at).getTime() <= countedFrom) return undefined;
  return { date: date.iso, day: date.previous().iso };
}

import { addDays } from './guests.js';

export const firstDay = '2026-11-20';
const [hourMs, dayMs] = [3_600_000, 86_400_000];
/** The afternoon of the first day, its end, and the night after it. */
export const firstMidnight = Date.parse('2026-11-20T23:00:00Z');
export const firstAfternoon = firstMidnight - 7.5 * hourMs;
const firstNight = firstMidnight + 3.5 * hourMs;

/** The business day of that number, as YYYY-MM-DD. */
export function isoOf(day: number): string {
  return addDays(firstDay, day);
}

/** The midnight at the end of that day. */
export function endOf(day: number): number {
  return firstMidnight + day * dayMs;
}

/** When an event can happen: on the day itself, or once that is over. */
export function earliestOn(day: number, isOnItsDay: boolean): number {
  return (isOnItsDay ? firstAfternoon : firstNight) + day * dayMs;
}

/** The last morning, after each deadline and digest, before that instant. */
export function findMorning(at: number): number {
  const first = firstMidnight + 9 * hourMs - dayMs;
  return first + Math.floor((at - first) / dayMs) * dayMs;
}

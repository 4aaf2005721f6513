import { type BusinessDay, businessDayAt, createBusinessDay } from '../../booking/business-day.js';
import { mayCompleteDay } from '../day-runs.js';
import { hasUnexpectedCount, type Run } from '../run.js';

/** Whether the collect began before the day ended: later bookings are missing. */
export function wasCollectedEarly(
  day: BusinessDay,
  { collectStartedAt, startedAt }: Pick<Run, 'collectStartedAt' | 'startedAt'>,
): boolean {
  return (collectStartedAt ?? startedAt) <= day.lastInstant.getTime();
}

/** Whether it succeeded, but before the day was over. Such a run looks done, and the day is not. */
export function endedTooEarly(run: Run, timezone: string): boolean {
  return run.state === 'succeeded' && wasCollectedEarly(createBusinessDay(run.day, timezone), run);
}

/** Whether the run makes its day a good one, as the metrics count it: "succeeded" alone does not. */
export function makesDayGood(run: Run, timezone: string): boolean {
  return (
    run.state === 'succeeded' &&
    mayCompleteDay(run) &&
    !endedTooEarly(run, timezone) &&
    !hasUnexpectedCount(run)
  );
}

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

function utcMidnight(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

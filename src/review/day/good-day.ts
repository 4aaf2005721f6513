import { type BusinessDay, createBusinessDay } from '../../booking/business-day.js';
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

import { type BusinessDay, businessDayAt } from '../../booking/business-day.js';
import { UsageError } from '../../text/usage-error.js';

/**
 * A day that has not begun has no bookings: reviewing it would look like a quiet day.
 *
 * @param now epoch milliseconds
 * @throws UsageError
 */
export function requireBegun(day: BusinessDay, now: number): void {
  if (hasBegun(day, now)) return;
  const today = businessDayAt(new Date(now), day.zone);
  throw new UsageError(`${day.iso} has not started: in ${day.zone} it is ${today.iso}`);
}

/**
 * The days of a range that have begun; the others are left out.
 *
 * @param days in their order
 * @throws UsageError if none of them has begun
 */
export function takeBegun(days: readonly BusinessDay[], now: number): readonly BusinessDay[] {
  const [first] = days;
  if (first) requireBegun(first, now);
  return days.filter((day) => hasBegun(day, now));
}

function hasBegun({ firstInstant }: BusinessDay, now: number): boolean {
  return firstInstant.getTime() <= now;
}

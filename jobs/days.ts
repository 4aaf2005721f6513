import { InvalidArgumentError } from 'commander';
import { UsageError } from '../src/base/usage-error.js';
import {
  type BusinessDay,
  businessDayAt,
  countDays,
  createBusinessDay,
  listDays,
  readInstant,
} from '../src/booking/business-day.js';
import { clock } from './clock.js';

/** A day of the command line, which depends on the zone: YYYY-MM-DD, `today` or `yesterday`. */
export function readDayIn(timezone: string, written = 'yesterday'): BusinessDay {
  const today = () => businessDayAt(new Date(clock()), timezone);
  switch (written) {
    case 'today':
      return today();
    case 'yesterday':
      return today().previous();
    default:
      return createBusinessDay(written, timezone);
  }
}

const daysAtOnce = 1_000;

/** The days of a range. @throws UsageError for too many, and where the last is before the first */
export function readRange({ from, to }: { readonly from: string; readonly to: string }): string[] {
  if (to < from) throw new UsageError(`--to ${to} is before --from ${from}`);
  if (countDays(from, to) > daysAtOnce)
    throw new UsageError(`the range is longer than ${daysAtOnce} days; name a shorter one`);
  return listDays(from, to);
}

/** Epoch milliseconds, not before 1970. */
export function readSince(text: string): number {
  const read = readInstant(text);
  if (!(read >= 0))
    throw new InvalidArgumentError(
      `expected an instant from 1970 on, such as 2026-11-20 or 2026-11-20T12:00:00Z, got: ${text}`,
    );
  return read;
}

import { InvalidArgumentError } from 'commander';
import { type BusinessDay, businessDayAt, createBusinessDay } from '../src/booking/business-day.js';
import { UsageError } from '../src/text/usage-error.js';
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
export function listDays({ from, to }: { readonly from: string; readonly to: string }, timezone: string) {
  if (to < from) throw new UsageError(`--to ${to} is before --from ${from}`);
  const days: string[] = [];
  for (let day = createBusinessDay(from, timezone); day.iso <= to; day = day.next()) {
    if (days.length === daysAtOnce)
      throw new UsageError(`the range is longer than ${daysAtOnce} days; name a shorter one`);
    days.push(day.iso);
  }
  return days;
}

const instant = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Epoch milliseconds, not before 1970. A date alone means its start in UTC; a time needs a zone. */
export function readInstant(text: string): number {
  const read = instant.test(text) ? Date.parse(text) : Number.NaN;
  if (!(read >= 0))
    throw new InvalidArgumentError(
      `expected an instant from 1970 on, such as 2026-11-20 or 2026-11-20T12:00:00Z, got: ${text}`,
    );
  return read;
}

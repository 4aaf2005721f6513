import { TZDate } from '@date-fns/tz';
import { addDays, format, isValid, parse } from 'date-fns';

/**
 * A calendar day in the account's time zone: the identity of the work.
 *
 * It is built from a written day or from an instant, never from "now", so that a schedule that fires late, or twice
 * in a night of changing clocks, still means the day it was due for.
 */
export interface BusinessDay {
  /** YYYY-MM-DD */
  readonly iso: string;
  /** IANA name, for example Europe/Madrid */
  readonly zone: string;
  /** The first instant that belongs to the day. */
  readonly firstInstant: Date;
  /** The last instant that belongs to the day, to the millisecond. */
  readonly lastInstant: Date;
  /** DDMMYYYY, the name of the review file. (Spec 4.3.) */
  readonly ddmmyyyy: string;
  /** MMYYYY, the name of its folder. (Spec 4.3.) */
  readonly mmyyyy: string;
  /** The day written with a date-fns pattern, for path templates. */
  format(pattern: string): string;
  previous(): BusinessDay;
  next(): BusinessDay;
}

const writtenDay = /^\d{4}-\d{2}-\d{2}$/;

/** Any fixed date serves as the reference that date-fns asks for: the pattern names year, month and day. */
const reference = new Date(2000, 0, 1);

/** True for a calendar date written YYYY-MM-DD. */
export function isCalendarDay(text: string): boolean {
  return writtenDay.test(text) && isValid(parse(text, 'yyyy-MM-dd', reference));
}

/** True for a time zone that this machine knows. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** @throws RangeError when the text is no calendar date or the zone is unknown. */
export function createBusinessDay(iso: string, zone: string): BusinessDay {
  if (!isCalendarDay(iso)) throw new RangeError(`expected a day as YYYY-MM-DD, got: ${JSON.stringify(iso)}`);
  if (!isTimeZone(zone))
    throw new RangeError(`expected a time zone such as Europe/Madrid, got: ${JSON.stringify(zone)}`);
  const [year, month, dayOfMonth] = iso.split('-').map(Number) as [number, number, number];
  const midnightOf = (offset: number) => new Date(+new TZDate(year, month - 1, dayOfMonth + offset, zone));
  // The calendar date alone, free of any zone: for writing it and for stepping to its neighbours.
  const calendarDate = new Date(year, month - 1, dayOfMonth, 12);
  const neighbour = (offset: number) =>
    createBusinessDay(format(addDays(calendarDate, offset), 'yyyy-MM-dd'), zone);
  return {
    iso,
    zone,
    firstInstant: midnightOf(0),
    lastInstant: new Date(+midnightOf(1) - 1),
    ddmmyyyy: format(calendarDate, 'ddMMyyyy'),
    mmyyyy: format(calendarDate, 'MMyyyy'),
    format: (pattern) => format(calendarDate, pattern),
    previous: () => neighbour(-1),
    next: () => neighbour(1),
  };
}

/** The business day that an instant falls on in a zone. */
export function businessDayAt(instant: Date, zone: string): BusinessDay {
  return createBusinessDay(format(new TZDate(+instant, zone), 'yyyy-MM-dd'), zone);
}

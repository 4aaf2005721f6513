import { tzOffset } from '@date-fns/tz';
import { format } from 'date-fns/format';
import { isTimeZone } from '../base/geography.js';

/**
 * A calendar day in the account's time zone: the identity of the work.
 *
 * It is created from a written day or an instant, never from "now". So a schedule that fires late, or twice when the
 * clocks change, still means the day that was due. The machine's time zone is irrelevant.
 *
 * Days are contiguous: each ends a millisecond before the next begins. A day that a zone skipped (Pacific/Apia,
 * 2011-12-30) can still be written and stepped over; it begins when the next day does and contains no instant, so its
 * last instant is a millisecond before its first.
 */
export interface BusinessDay {
  /** YYYY-MM-DD */
  readonly iso: string;
  /** IANA name, for example Europe/Madrid */
  readonly zone: string;
  /** The first instant that belongs to the day: later than 00:00 where the clocks skip midnight. */
  readonly firstInstant: Date;
  /** The last instant that belongs to the day, to the millisecond. */
  readonly lastInstant: Date;
  /** DDMMYYYY, the name of the review file. (Spec 4.3.) */
  readonly ddmmyyyy: string;
  /** MMYYYY, the name of its folder. (Spec 4.3.) */
  readonly mmyyyy: string;
  /**
   * The day written with a date-fns pattern, for path templates.
   *
   * @throws RangeError for a pattern that date-fns can't read
   */
  format(pattern: string): string;
  /** @throws RangeError before the year 0001 */
  previous(): BusinessDay;
  /** @throws RangeError after the year 9999 */
  next(): BusinessDay;
}

/** Whether the day is over at that instant: only then can a source have all of it. */
export function isDayOver({ lastInstant }: BusinessDay, at: number): boolean {
  return at > lastInstant.getTime();
}

const hour = 3_600_000;
const dayLength = 24 * hour;
/** Needs no `Intl`, whose first use takes longer than most commands. */
const utc = 'UTC';
const firstOfCalendar = '0001-01-01';
/** The days of each month in a leap year. */
const longestMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * True for a calendar date written YYYY-MM-DD, from the year 0001 on. Arithmetic is 20 times faster than parsing with
 * Date, and this runs twice for every booking.
 */
export function isCalendarDay(text: string): boolean {
  if (text.length !== 10 || text[4] !== '-' || text[7] !== '-') return false;
  const year = readDigits(text, 0, 4);
  const month = readDigits(text, 5, 7);
  const day = readDigits(text, 8, 10);
  if (!(year >= 1 && day >= 1 && day <= (longestMonths[month - 1] ?? 0))) return false;
  return month !== 2 || day < 29 || isLeapYear(year);
}

const writtenInstant = /^(.{10})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Epoch milliseconds of a written instant; a date alone means its start in UTC, a time needs a zone. NaN for anything else. */
export function readInstant(text: string): number {
  const [, date = ''] = writtenInstant.exec(text) ?? [];
  // Date.parse takes the 30th of February for a day in March.
  return isCalendarDay(date) ? Date.parse(text) : Number.NaN;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** NaN for anything but ASCII digits. */
function readDigits(text: string, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

/** @throws RangeError for a text that is no calendar date, or an unknown zone */
export function createBusinessDay(iso: string, zone: string): BusinessDay {
  if (!isCalendarDay(iso)) throw new RangeError(`expected a day as YYYY-MM-DD, got: ${JSON.stringify(iso)}`);
  if (!isTimeZone(zone))
    throw new RangeError(`expected a time zone such as Europe/Madrid, got: ${JSON.stringify(zone)}`);
  const midnight = midnightInUtc(iso);
  const [year, month, dayOfMonth] = iso.split('-');
  const neighbour = (days: number) => createBusinessDay(writeUtcDate(midnight + days * dayLength), zone);
  return {
    iso,
    zone,
    firstInstant: new Date(findFirstInstant(midnight, zone)),
    lastInstant: new Date(findFirstInstant(midnight + dayLength, zone) - 1),
    ddmmyyyy: `${dayOfMonth}${month}${year}`,
    mmyyyy: `${month}${year}`,
    // date-fns formats in the machine's time zone: noon there is always on the intended day.
    format: (pattern) => format(new Date(`${iso}T12:00:00`), pattern),
    previous: () => neighbour(-1),
    next: () => neighbour(1),
  };
}

/**
 * The business day of an instant in a zone.
 *
 * @throws RangeError for an invalid Date or an unknown zone
 */
export function businessDayAt(instant: Date, zone: string): BusinessDay {
  if (!isTimeZone(zone))
    throw new RangeError(`expected a time zone such as Europe/Madrid, got: ${JSON.stringify(zone)}`);
  return createBusinessDay(dateAt(instant.getTime(), zone), zone);
}

/** The date that the zone's calendar shows then, as YYYY-MM-DD. */
export function dateAt(milliseconds: number, zone: string): string {
  return writeUtcDate(readLocalClock(milliseconds, zone));
}

/** The day so many days before, but not before the calendar begins. */
export function goBack({ iso, zone }: BusinessDay, days: number): BusinessDay {
  const before = midnightInUtc(iso) - days * dayLength;
  return createBusinessDay(writeUtcDate(Math.max(before, midnightInUtc(firstOfCalendar))), zone);
}

/** How many days a range has, both ends included; none or fewer if it ends before it begins. */
export function countDays(from: string, to: string): number {
  return (midnightInUtc(to) - midnightInUtc(from)) / dayLength + 1;
}

/** The days of a range as YYYY-MM-DD, both ends included. */
export function listDays(from: string, to: string): string[] {
  const first = midnightInUtc(from);
  return Array.from({ length: Math.max(countDays(from, to), 0) }, (_, passed) =>
    writeUtcDate(first + passed * dayLength),
  );
}

/** False for a day that the zone's calendar skipped. */
export function holdsInstants(day: BusinessDay): boolean {
  return day.firstInstant.getTime() <= day.lastInstant.getTime();
}

/** The previous day that exists in the zone's calendar. */
export function lastDayBefore(day: BusinessDay): BusinessDay {
  const before = day.previous();
  return holdsInstants(before) ? before : lastDayBefore(before);
}

/**
 * When the zone's clock shows a time on that day: the first time if it is shown twice, or the moment to which the clock jumps
 * if it is skipped.
 *
 * @param time HH:MM
 */
export function instantAt({ iso, zone, firstInstant }: BusinessDay, time: string): Date {
  const shown = Date.parse(`${iso}T${time}:00Z`);
  const start = firstInstant.getTime();
  const beforeChange = start + (shown - readLocalClock(start, zone));
  return new Date(
    readLocalClock(beforeChange, zone) === shown ? beforeChange : findFirstInstant(shown, zone),
  );
}

/** The zone's local time at an instant, as if it were UTC. Both are epoch milliseconds. */
export function readLocalClock(instant: number, zone: string): number {
  return zone === utc ? instant : instant + Math.round(tzOffset(zone, new Date(instant)) * 60_000);
}

/**
 * The first instant at which the zone's clock shows that time or a later one.
 *
 * Around a clock change it is found by bisection rather than from an offset: in some zones clocks jump from 23:59 to
 * 01:00, or show 00:30 twice, so midnight has no offset of its own.
 */
function findFirstInstant(time: number, zone: string): number {
  // No zone was ever 16 hours from UTC.
  let before = time - 16 * hour;
  let reached = time + 16 * hour;
  const ahead = readLocalClock(before, zone) - before;
  if (readLocalClock(reached, zone) - reached === ahead) return time - ahead;
  while (reached - before > 1) {
    const middle = Math.floor((before + reached) / 2);
    if (readLocalClock(middle, zone) >= time) reached = middle;
    else before = middle;
  }
  return reached;
}

function midnightInUtc(iso: string): number {
  return Date.parse(`${iso}T00:00:00Z`);
}

function writeUtcDate(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

/** Day of the year and week-numbering year: date-fns considers them mistakes and prints a warning. */
const mistakenLetters = /[DY]/;
const quotedText = /'[^']*'/g;

/** True for a date-fns pattern that date-fns itself warns about. */
export function hasMistakenLetters(pattern: string): boolean {
  return mistakenLetters.test(pattern.replaceAll(quotedText, ''));
}

/** True for a date-fns pattern that writes a day, such as ddMMyyyy. */
export function isDayPattern(pattern: string): boolean {
  if (pattern === '' || hasMistakenLetters(pattern)) return false;
  try {
    createBusinessDay('2000-01-01', utc).format(pattern);
    return true;
  } catch {
    // date-fns throws a RangeError for unknown letters.
    return false;
  }
}

import { format } from 'date-fns/format';
import { parse } from 'date-fns/parse';
import { hasMistakenLetters, isCalendarDay } from './business-day.js';

/** Reads a date as YYYY-MM-DD; undefined for a text that is no calendar date. */
export type DateReader = (text: string) => string | undefined;

const ownFormat = 'yyyy-MM-dd';
/** Longer than any date with time that a date-fns pattern writes. */
const maxLength = 64;
/** Far more than the number of distinct dates in one day's bookings. */
const maxRemembered = 4096;

/** Its first group is what stands before the last part that may be a time. */
export const lastTimePart = /^(.+)[T\s]\d/;
const timeOfFormat = /(?:'T'|\s+)[HhKk][HhKkmsSabBXx':.,Z\s]*$/;
const twoDigitYear = /(?<!y)yy(?!y)/;
/** date-fns needs a reference date. With this one, two-digit years are read as 1950 to 2049. */
const reference = new Date(2000, 0, 1);
/** Days whose parts can't be confused with each other, and days with single digits, for which padding matters. */
const samples = [new Date(2026, 10, 20), new Date(2027, 0, 11), new Date(2031, 10, 1), new Date(2028, 1, 29)];

/** True for a date-fns pattern with year, month and day. A time at its end is allowed and ignored. */
export function isDateFormat(pattern: string): boolean {
  if (hasMistakenLetters(pattern)) return false;
  const datePattern = pattern.replace(timeOfFormat, '');
  try {
    return samples.every(
      (day) => parseDate(format(day, datePattern), datePattern) === format(day, ownFormat),
    );
  } catch {
    // date-fns throws a RangeError for unknown letters.
    return false;
  }
}

/**
 * Creates a reader for a source's dates: in `dateFormat` (a date-fns pattern) if given, with YYYY-MM-DD as the
 * fallback. A time part ("T" or white space followed by a digit) is cut off. Years have four digits unless the
 * pattern has two. (Design 4.)
 *
 * @throws RangeError for a pattern without year, month and day
 */
export function createDateReader(dateFormat: string = ownFormat): DateReader {
  if (!isDateFormat(dateFormat))
    throw new RangeError(
      `expected a date format that names year, month and day, such as dd/MM/yyyy, got: ${JSON.stringify(dateFormat)}`,
    );
  const pattern = dateFormat.replace(timeOfFormat, '');
  // date-fns takes about 80 microseconds per date, and a day's bookings repeat the same dates.
  const remembered = new Map<string, string | null>();

  const readWhole = (text: string): string | undefined => {
    if (pattern !== ownFormat) {
      const date = parseDate(text, pattern);
      if (date !== undefined) return date;
    }
    return isCalendarDay(text) ? text : undefined;
  };

  return function read(text: string): string | undefined {
    if (pattern === ownFormat && isCalendarDay(text)) return text;
    const known = remembered.get(text);
    if (known !== undefined) return known ?? undefined;
    if (text.length > maxLength) return undefined;
    // A blank may also be part of a date ("20 Nov 2026"), so what remains after the cut must itself be a date.
    const beforeTime = lastTimePart.exec(text)?.[1];
    const cutDate = beforeTime === undefined ? undefined : read(beforeTime.trimEnd());
    if (cutDate !== undefined) return cutDate;
    // Copied, because a substring keeps its whole chunk in memory.
    const ownText = Buffer.from(text).toString();
    const date = readWhole(ownText);
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(ownText, date ?? null);
    return date;
  };
}

function parseDate(text: string, pattern: string): string | undefined {
  const parsed = parse(text, pattern, reference);
  const year = parsed.getFullYear();
  // The year of an invalid date is NaN, which fails both comparisons.
  if (!(year >= 1 && year <= 9999)) return undefined;
  const date = format(parsed, ownFormat);
  // Under "yyyy" date-fns also accepts "26", as the year 26.
  return twoDigitYear.test(pattern) || text.includes(date.slice(0, 4)) ? date : undefined;
}

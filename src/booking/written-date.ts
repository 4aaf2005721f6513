import { format } from 'date-fns/format';
import { parse } from 'date-fns/parse';
import { hasMistakenLetters, isCalendarDay } from './business-day.js';

/** Reads a date as YYYY-MM-DD; undefined for a text that is no calendar date. */
export type DateReader = (text: string) => string | undefined;

const ownFormat = 'yyyy-MM-dd';
/** Longer than the longest date that a pattern of date-fns writes, with its time. */
const maxLength = 64;
/** Far more than the dates that one business day's bookings name. */
const maxRemembered = 4096;

const lastTimePart = /^(.+)[T\s]\d/;
const timeOfFormat = /(?:'T'|\s+)[HhKk][HhKkmsSabBXx':.,Z\s]*$/;
const twoDigitYear = /(?<!y)yy(?!y)/;
/** Any fixed date serves as the reference that date-fns asks for; two-digit years are read as 1950 to 2049. */
const reference = new Date(2000, 0, 1);
/** Days whose parts cannot be mistaken for one another, and such with one digit, where padding matters. */
const samples = [new Date(2026, 10, 20), new Date(2027, 0, 11), new Date(2031, 10, 1), new Date(2028, 1, 29)];

/** True for a date-fns pattern that names year, month and day. A time at its end is allowed, and ignored. */
export function isDateFormat(pattern: string): boolean {
  if (hasMistakenLetters(pattern)) return false;
  const datePattern = pattern.replace(timeOfFormat, '');
  try {
    return samples.every(
      (day) => parseDate(format(day, datePattern), datePattern) === format(day, ownFormat),
    );
  } catch {
    // date-fns throws a RangeError for letters that it doesn't know.
    return false;
  }
}

/**
 * Makes a reader of dates as a source writes them: in `dateFormat` (a date-fns pattern) where one is given, otherwise
 * or else as YYYY-MM-DD. A time part, "T" or white space and a digit onwards, is cut. A year has four digits, unless
 * the pattern asks for two. (Design 4.)
 *
 * @throws RangeError for a pattern that doesn't name a whole date.
 */
export function createDateReader(dateFormat: string = ownFormat): DateReader {
  if (!isDateFormat(dateFormat))
    throw new RangeError(
      `expected a date format that names year, month and day, such as dd/MM/yyyy, got: ${JSON.stringify(dateFormat)}`,
    );
  const pattern = dateFormat.replace(timeOfFormat, '');
  // date-fns takes some 80 microseconds a date, and the bookings of a day name the same dates again and again.
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
    // A blank may also stand inside a date ("20 Nov 2026"), so what is left after the cut must be a date itself.
    const beforeTime = lastTimePart.exec(text)?.[1];
    const cutDate = beforeTime === undefined ? undefined : read(beforeTime.trimEnd());
    if (cutDate !== undefined) return cutDate;
    // A copy: a text cut out of a large chunk would keep the whole chunk in memory.
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
  // An invalid date's year is NaN, which is within no bounds.
  if (!(year >= 1 && year <= 9999)) return undefined;
  const date = format(parsed, ownFormat);
  // Under "yyyy" date-fns also takes "26", for the year 26.
  return twoDigitYear.test(pattern) || text.includes(date.slice(0, 4)) ? date : undefined;
}

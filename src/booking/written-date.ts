import { format } from 'date-fns/format';
import { parse } from 'date-fns/parse';
import type { DateField, RawBooking } from './booking.js';
import { dateAt, hasMistakenLetters, isCalendarDay } from './business-day.js';
import { readField } from './field-text.js';

/** Reads a date as YYYY-MM-DD; undefined for a text that is no calendar date. */
type DateReader = (text: string) => string | undefined;

const ownFormat = 'yyyy-MM-dd';
/** Longer than any date with a time, or instant, as programs write them. */
const maxLength = 64;
/** Far more than the number of distinct dates in one day's bookings, and more than that of most days' instants. */
const maxRemembered = 4096;

/** Its first group is what stands before the last part that may be a time. */
const lastTimePart = /^(.+)[T\s]\d/;
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
 * pattern has two.
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
  const readWhole = remember((text) => {
    const date = pattern === ownFormat ? undefined : parseDate(text, pattern);
    return date ?? (isCalendarDay(text) ? text : undefined);
  });

  return function read(text: string): string | undefined {
    if (pattern === ownFormat && isCalendarDay(text)) return text;
    if (text.length > maxLength) return undefined;
    // A blank may also be part of a date ("20 Nov 2026"), so what remains after the cut must itself be a date.
    const beforeTime = lastTimePart.exec(text)?.[1];
    return (beforeTime === undefined ? undefined : read(beforeTime.trimEnd())) ?? readWhole(text);
  };
}

/** Remembers what texts were read as; longer ones are not read. */
function remember<Read extends string | object>(
  read: (text: string) => Read | undefined,
): (text: string) => Read | undefined {
  const remembered = new Map<string, Read | null>();
  return (text) => {
    if (text.length > maxLength) return undefined;
    const known = remembered.get(text);
    if (known !== undefined) return known ?? undefined;
    const found = read(text);
    if (remembered.size >= maxRemembered) remembered.clear();
    // Copied, because a substring keeps its whole chunk in memory.
    remembered.set(Buffer.from(text).toString(), found ?? null);
    return found;
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

/** What an instant such as 2027-01-31T23:00:00Z means in a column of dates. */
export const instantChoices = ['auto', 'convert', 'as-written'] as const;
export type InstantChoice = (typeof instantChoices)[number];

/** How many records of a day decide about instants at midnight UTC. */
export const decidingRecords = 1_000;

/** `instant-contradicts`: earlier instants of that column were taken for dates. */
export type InstantWarning = 'instant-converted' | 'instant-contradicts';

/** A converted instant may come with a warning. */
export type ColumnReader = (
  text: string,
) => string | { readonly text: string; readonly warning: InstantWarning } | undefined;

/** How a day's instants become dates. */
export interface InstantRule {
  /** The account's, by its IANA name. */
  readonly zone: string;
  /** The columns whose instants at midnight UTC stand for that date. */
  readonly dated: ReadonlySet<DateField>;
  /** Whether each conversion is a warning, because nobody asked for it. */
  readonly warns: boolean;
}

interface Instant {
  /** Epoch milliseconds, without a fraction of a second. */
  readonly at: number;
  readonly isMidnight: boolean;
}

const dayLength = 86_400_000;
/** Nothing this short has a time as well. */
const longestDate = 'YYYY-MM-DD'.length;
/** Also as Java and .NET write them: `T23:00:00Z[UTC]`, `11:00:00 PM +00:00`. */
const time =
  /[T\s](\d{1,2})(?::?(\d{2}))?(?::?(\d{2})(?:[.,](\d{1,40}))?)?\s?([AP]M)?\s?(Z|UTC|GMT)?(?:([+-])(\d{2})(?::?(\d{2}))?)?(?:\[[\w/+-]{1,40}\])?$/i;
/** What may follow a time without saying anything about its zone. */
const timeSuffix = /\s?(?:[ap]\.?\s?m\.?|h|uhr)$/i;
const localTime = /^\d[\d:.,h]{0,30}$/i;

/** Reads a date followed by a time with its zone; undefined for anything else. */
function readInstant(text: string, readDate: DateReader): Instant | undefined {
  if (text.length > maxLength) return undefined;
  const found = time.exec(text);
  if (found === null) return undefined;
  const [, written, minutes = '00', seconds = '00', fraction = '', half, name] = found;
  const [sign, hoursEast = 0, minutesEast = 0] = found.slice(7);
  if (name === undefined && sign === undefined) return undefined;
  const date = readDate(text.slice(0, found.index).trimEnd());
  const hours = half === undefined ? Number(written) : (Number(written) % 12) + (/p/i.test(half) ? 12 : 0);
  const clock = `${String(hours).padStart(2, '0')}:${minutes}:${seconds}`;
  const offset = (Number(hoursEast) * 60 + Number(minutesEast)) * 60_000;
  const at = Date.parse(`${date}T${clock}Z`) - (sign === '-' ? -offset : offset);
  if (date === undefined || Number.isNaN(at)) return undefined;
  return { at, isMidnight: at % dayLength === 0 && /^0*$/.test(fraction) };
}

/**
 * Reads a date alone or before a time without a zone. A zone that is not understood may mean another date than the written
 * one.
 */
function readLocal(text: string, readDate: DateReader): string | undefined {
  const before = lastTimePart.exec(text)?.[1];
  // A blank may also be part of a date ("20 Nov 2026").
  if (before === undefined || readDate(before.trimEnd()) === undefined) return readDate(text);
  const rest = text.slice(before.length + 1).replace(timeSuffix, '');
  return localTime.test(rest) ? readLocal(before.trimEnd(), readDate) : undefined;
}

/** Columns of dates whose instants, among these records, are all at midnight UTC: programs write dates like that. */
export function findDatedColumns(
  records: readonly RawBooking[],
  dateFormat: string | undefined,
): ReadonlySet<DateField> {
  const readDate = createDateReader(dateFormat);
  const columns: readonly DateField[] = ['CheckInDate', 'CheckOutDate'];
  const isDated = (column: DateField) =>
    records.every((record) => {
      const text = readField('date', record[column]);
      const instant = typeof text === 'string' ? readInstant(text, readDate) : undefined;
      return instant === undefined || instant.isMidnight;
    });
  return new Set(columns.filter(isDated));
}

/** Creates a reader for a column of dates. Without a rule, an instant is the date that it is written with. */
export function createColumnReader(
  column: DateField,
  dateFormat: string | undefined,
  rule: InstantRule | undefined,
): ColumnReader {
  const readDate = createDateReader(dateFormat);
  if (rule === undefined) return readDate;
  const { zone, warns } = rule;
  const isDated = rule.dated.has(column);

  function convert({ at, isMidnight }: Instant): ReturnType<ColumnReader> {
    if (isDated && isMidnight) return new Date(at).toISOString().slice(0, 10);
    const date = dateAt(at, zone);
    // The last instants of the year 9999.
    if (!isCalendarDay(date)) return undefined;
    if (!warns) return date;
    return { text: date, warning: isDated ? 'instant-contradicts' : 'instant-converted' };
  }

  const readLong = remember((text) => {
    const instant = readInstant(text, readDate);
    return instant === undefined ? readLocal(text, readDate) : convert(instant);
  });
  return (text) => (text.length <= longestDate ? readDate(text) : readLong(text));
}

import type { DateField, RawBooking } from './booking.js';
import { dateAt, isCalendarDay } from './business-day.js';
import { readField } from './field-text.js';
import { createDateReader, type DateReader, lastTimePart } from './written-date.js';

/** What an instant such as 2027-01-31T23:00:00Z means in a column of dates. */
export const instantChoices = ['auto', 'convert', 'as-written'] as const;
export type InstantChoice = (typeof instantChoices)[number];

/** How many records of a day decide about instants at midnight UTC. */
export const decidingRecords = 1_000;

/** `instant-contradicts`: earlier instants of that column were taken for dates. */
export type InstantWarning = 'instant-converted' | 'instant-contradicts';

/** The date that an instant was converted to. */
export interface ConvertedDate {
  readonly text: string;
  readonly warning: InstantWarning;
}

export type ColumnReader = (text: string) => string | ConvertedDate | undefined;

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
/** Longer than any instant as programs write them. */
const maxLength = 64;
/** More than the number of distinct instants of most days. */
const maxRemembered = 4096;
/** Also as Java and .NET write them: `T23:00:00Z[UTC]`, `11:00:00 PM +00:00`. */
const time =
  /[T\s](\d{1,2})(?::?(\d{2}))?(?::?(\d{2})(?:[.,](\d{1,40}))?)?\s?([AP]M)?\s?(Z|UTC|GMT)?([+-]\d{2}(?::?\d{2})?)?(?:\[[\w/+-]{1,40}\])?$/i;
/** What may follow a time without saying anything about its zone. */
const timeSuffix = /\s?(?:[ap]\.?\s?m\.?|h|uhr)$/i;
const localTime = /^\d[\d:.,h]{0,30}$/i;

/** Reads a date followed by a time with its zone; undefined for anything else. */
function readInstant(text: string, readDate: DateReader): Instant | undefined {
  if (text.length > maxLength) return undefined;
  const found = time.exec(text);
  if (found === null) return undefined;
  const [, written = '', minutes = '00', seconds = '00', fraction = '', half, name, offset] = found;
  if (name === undefined && offset === undefined) return undefined;
  const date = readDate(text.slice(0, found.index).trimEnd());
  const hours = half === undefined ? Number(written) : (Number(written) % 12) + (/p/i.test(half) ? 12 : 0);
  const clock = `${String(hours).padStart(2, '0')}:${minutes}:${seconds}`;
  const at = Date.parse(`${date}T${clock}Z`) - readOffset(offset ?? '');
  if (date === undefined || Number.isNaN(at)) return undefined;
  return { at, isMidnight: at % dayLength === 0 && /^0*$/.test(fraction) };
}

/**
 * Reads a date alone or before a time without a zone. A zone that is not understood may mean another date than the written
 * one.
 */
function readLocal(text: string, readDate: DateReader): string | undefined {
  const before = text.length > maxLength ? undefined : lastTimePart.exec(text)?.[1];
  // A blank may also be part of a date ("20 Nov 2026").
  if (before === undefined || readDate(before.trimEnd()) === undefined) return readDate(text);
  const rest = text.slice(before.length + 1).replace(timeSuffix, '');
  return localTime.test(rest) ? readLocal(before.trimEnd(), readDate) : undefined;
}

/** In milliseconds east of UTC. */
function readOffset(zone: string): number {
  const [, sign, hours = 0, minutes = 0] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === '-' ? -offset : offset;
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
  const remembered = new Map<string, string | ConvertedDate>();

  function convert({ at, isMidnight }: Instant): string | ConvertedDate | undefined {
    if (isDated && isMidnight) return new Date(at).toISOString().slice(0, 10);
    const date = dateAt(at, zone);
    // The last instants of the year 9999.
    if (!isCalendarDay(date)) return undefined;
    if (!warns) return date;
    return { text: date, warning: isDated ? 'instant-contradicts' : 'instant-converted' };
  }

  return (text) => {
    if (text.length <= longestDate) return readDate(text);
    const known = remembered.get(text);
    if (known !== undefined) return known;
    const instant = readInstant(text, readDate);
    const converted = instant === undefined ? readLocal(text, readDate) : convert(instant);
    if (converted === undefined) return undefined;
    if (remembered.size >= maxRemembered) remembered.clear();
    // Copied, because a substring keeps its whole chunk in memory.
    remembered.set(Buffer.from(text).toString(), converted);
    return converted;
  };
}

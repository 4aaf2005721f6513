import type { ReceivedHotel } from '../../support/http-stand-in.js';
import { bookingsHeader } from '../../support/made-bookings.js';

/** A booking in a system with large integers, text and null: what each source can write. */
export interface DifficultRecord {
  readonly serviceId: bigint | undefined;
  readonly reference: bigint | undefined;
  readonly name: string | undefined;
  readonly provider: string | undefined;
  readonly hotel: string | undefined;
  readonly checkIn: string | undefined;
  readonly checkOut: string | undefined;
}

export interface DifficultDay {
  readonly records: readonly DifficultRecord[];
  /** What the service must receive, by design 4. */
  readonly bookings: readonly ReceivedHotel[];
  /** The records that cannot be sent: their index, counted from 0, and why. */
  readonly rejects: readonly { readonly record: number; readonly reason: string }[];
  readonly duplicates: number;
}

type Written = readonly [written: string | undefined, arrives: string | undefined];

const unchanged = (text: string): Written => [text, text];
const missing = (text: string | undefined): Written => [text, undefined];

const names: readonly Written[] = [
  ...[
    'Ann Smith',
    'Žofie Nováková',
    '李小龍',
    'مريم بنت عمران',
    'Ole 🏨🧳 Ålesund',
    'José',
    'Jose\u0301',
  ].map(unchanged),
  ...[
    'O\'Brien, "Bob"',
    '"quoted"',
    '"',
    '""',
    "'",
    'back\\slash \\" \\n',
    'semi;colon|pipe',
    '{"json":[1]}',
  ].map(unchanged),
  ...[
    '=HYPERLINK("x")',
    "x'; DROP TABLE bookings; --",
    '$1 :day ?',
    '%s %2e',
    '𝒜𝓃𝓃 👩‍👩‍👧',
    'İstanbul ﬁ',
    'Null',
    'None',
  ].map(unchanged),
  ['line\nend', 'line end'],
  ['two\r\nends\r\n\r\nand more', 'two ends and more'],
  ['lone\rreturn', 'lone return'],
  ['tab\there', 'tab here'],
  ['control\u0001\u0085\u2028signs', 'control signs'],
  ['  padded  ', 'padded'],
  ['\u00a0\u2003\ufeffblank of all kinds\u3000', 'blank of all kinds'],
  ...[undefined, '', '   ', '\u2003\n', 'NULL', 'null', 'undefined', 'NaN'].map(missing),
];

const providers: readonly Written[] = [
  ...['Hotelbeds', 'Expedia Partner, Inc.', '"Quoted" GmbH', 'Ünïted', '日本旅行', 'N/A', '-', '🏨'].map(
    unchanged,
  ),
  ['Two\nLines', 'Two Lines'],
  ...[undefined, 'none', 'NULL', ' '].map(missing),
];

const hotels: readonly Written[] = [
  ...[
    '007',
    '00012345',
    '9007199254740993',
    '123456789012345678901234567890',
    'AB-0099',
    '0',
    '-0',
    '1e5',
  ].map(unchanged),
  ...['0x1F', '12.50', '12,5', '٣٤', 'true', '../7'].map(unchanged),
  [' 0042 ', '0042'],
  ...[undefined, 'None', ''].map(missing),
];

/** Check-in on a day of December, whatever surrounds it. */
const dates: readonly ((date: string) => Written)[] = [
  ...Array<(date: string) => Written>(14).fill(unchanged),
  (date) => [`${date}T14:30:00Z`, date],
  (date) => [`${date} 00:00:00`, date],
  (date) => [` ${date}\t`, date],
  ...[undefined, 'null', '2026-02-30'].map((text) => () => missing(text)),
];

/** Not all of them fit into a JavaScript number. */
const unusableIds: readonly (readonly [bigint | undefined, string])[] = [
  [undefined, 'service-id-missing'],
  [0n, 'service-id-invalid'],
  [-7n, 'service-id-invalid'],
  [9_007_199_254_740_992n, 'service-id-invalid'],
  [9_007_199_254_740_993n, 'service-id-invalid'],
  [9_223_372_036_854_775_807n, 'service-id-invalid'],
];

/**
 * A day of `count` records with everything difficult: always the same. Every 40th cannot be sent, and every 25th
 * repeats the one before it with blanks around its name.
 *
 * It omits what some source cannot express: NUL and lone surrogates, which databases don't store; master ids that
 * are not integers, which their columns reject; and values that are not text, which CSV doesn't have.
 */
export function makeDifficultDay(count: number): DifficultDay {
  const records: DifficultRecord[] = [];
  const bookings: ReceivedHotel[] = [];
  const rejects: { record: number; reason: string }[] = [];
  let duplicates = 0;
  for (let index = 0; index < count; index += 1) {
    const before = records.at(-1);
    if (index % 25 === 24 && before !== undefined) {
      records.push({ ...before, name: ` ${before.name ?? ''} ` });
      duplicates += 1;
      continue;
    }
    const [unusable, reason] = index % 40 === 12 ? pick(unusableIds, Math.floor(index / 40)) : [];
    const serviceId = reason === undefined ? idOf(index) : unusable;
    // Beyond the precision of JavaScript numbers: neighbours of one of these become the same number.
    const reference = index % 31 === 3 ? undefined : 9_007_199_254_740_993n + BigInt(index);
    const [name, nameArrives] = pick(names, index);
    const [provider, providerArrives] = pick(providers, index);
    const [hotel, hotelArrives] = pick(hotels, index);
    const [checkIn, checkInArrives] = pick(dates, index)(`2026-12-${String(10 + (index % 9))}`);
    const [checkOut, checkOutArrives] = pick(dates, index * 3)(`2026-12-${String(12 + (index % 7))}`);
    records.push({ serviceId, reference, name, provider, hotel, checkIn, checkOut });
    if (reason !== undefined) {
      rejects.push({ record: index, reason });
      continue;
    }
    const arrives = {
      ServiceId: Number(serviceId),
      BookingReferenceId: reference?.toString(),
      BookingClientName: nameArrives,
      ProviderName: providerArrives,
      ProviderHotelId: hotelArrives,
      CheckInDate: checkInArrives,
      CheckOutDate: checkOutArrives,
    };
    bookings.push(Object.fromEntries(Object.entries(arrives).filter(([, value]) => value !== undefined)));
  }
  return { records, bookings, rejects, duplicates };
}

/** The largest valid one is among them. */
function idOf(index: number): bigint {
  return index === 0 ? 9_007_199_254_740_991n : 100_000n + BigInt(index);
}

function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new RangeError('expected a list that holds something, got: an empty one');
  return item;
}

/** A file of a day, and the places of its records as reported: index counted from 0, lines counted from 1. */
export interface WrittenDay {
  readonly text: string;
  readonly lines: readonly number[];
}

/** Cells are quoted where needed, and in every seventh record; some ids have leading zeros. */
export function writeCsv(records: readonly DifficultRecord[]): WrittenDay {
  const lines: number[] = [];
  let text = `${bookingsHeader}\r\n`;
  let line = 2;
  records.forEach((record, index) => {
    lines.push(line);
    const written = record.serviceId?.toString();
    const id = index % 5 === 0 && !written?.startsWith('-') ? written?.padStart(17, '0') : written;
    const [, ...others] = valuesOf(record);
    const cells = [id, ...others].map((cell) => writeCell(cell?.toString() ?? '', index % 7 === 0));
    const row = `${cells.join(',')}${index % 2 === 0 ? '\r\n' : '\n'}`;
    text += row;
    line += row.split('\n').length - 1;
  });
  return { text, lines };
}

/** One JSON object per line. */
export function writeNdjson(records: readonly DifficultRecord[]): WrittenDay {
  return {
    text: records.map((record, index) => `${writeJson(record, index)}\n`).join(''),
    lines: records.map((_, index) => index + 1),
  };
}

/**
 * One JSON object. The master id is a number with all its digits, sometimes text; nothing is null or absent;
 * characters beyond ASCII are sometimes escaped.
 */
export function writeJson(record: DifficultRecord, index: number): string {
  const members = fieldNames.flatMap((name, at) => {
    const value = valuesOf(record)[at];
    if (value === undefined) return (index + at) % 2 === 0 ? [`"${name}":null`] : [];
    const isNumber = name === 'ServiceId' && index % 5 !== 0;
    return [`"${name}": ${isNumber ? value : JSON.stringify(String(value))}`];
  });
  const json = `{${members.join(',')}}`;
  return index % 3 === 0 ? escapeAll(json) : json;
}

export const fieldNames = bookingsHeader.split(',');

/** In the order of the names. */
export function valuesOf({
  serviceId,
  reference,
  name,
  provider,
  hotel,
  checkIn,
  checkOut,
}: DifficultRecord) {
  return [serviceId, reference, name, provider, hotel, checkIn, checkOut] as const;
}

function writeCell(text: string, isQuoted: boolean): string {
  return isQuoted || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function escapeAll(json: string): string {
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

import { UsageError } from '../../base/safe-error.js';
import { type ServiceField, serviceFields } from '../../booking/booking.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { readField } from '../../booking/field-text.js';
import { matchColumns } from '../../booking/match-columns.js';
import { SourceError } from '../../booking/source.js';
import { createDateReader } from '../../booking/written-date.js';
import type { Sample, SampleDay } from '../../sources/common/sample.js';
import { type EncodingGuess, findGuess } from '../examination/encoding-check.js';
import { findUnconfirmed, type Unconfirmed } from '../examination/unconfirmed.js';

/**
 * What an export shows about the settings of its source. It holds no cell of it but words for a state and, masked, words with
 * accents.
 */
export interface Examined {
  readonly kind: 'csv' | 'ndjson';
  readonly columns: ReadonlyMap<ServiceField, string>;
  /** The fields without a column. */
  readonly missing: readonly ServiceField[];
  readonly unused: readonly string[];
  /** Records that look cancelled by an unused column. */
  readonly unconfirmed: Unconfirmed | undefined;
  /** How its dates are written: none if that is not recognised, several if they are ambiguous; undefined without such a column. */
  readonly dates: readonly DateReading[] | undefined;
  readonly delimiter: string | undefined;
  readonly skipRows: number | undefined;
  readonly encoding: string | undefined;
  readonly encodingGuess: EncodingGuess | undefined;
  /** Why the export holds the bookings of the day before the one that it names; undefined if nothing says so. */
  readonly isOfDayBefore: string | undefined;
}

interface Export {
  /** The day that it names, or else yesterday. */
  readonly day: BusinessDay;
  /** When it was written; undefined if it names no day. */
  readonly written: Date | undefined;
  readonly open: (kind: Examined['kind']) => Promise<SampleDay>;
}

/**
 * Reads the beginning of an export, and finds out what it shows.
 *
 * @throws UsageError if it is none
 */
export async function examineExport(found: Export, signal: AbortSignal): Promise<Examined> {
  const { kind, sample } = await readSample(found, signal);
  const { columns: names, records, delimiter, skipRows, encoding } = sample;
  const { columns, unused } = matchColumns(names);
  const single = unused.filter((name) => names.indexOf(name) === names.lastIndexOf(name));
  const valuesOf = (column: string) => records.map((record) => record.get(column) ?? '');
  const dateColumns = (['CheckInDate', 'CheckOutDate'] as const).flatMap((field) => columns.get(field) ?? []);
  return {
    kind,
    columns,
    missing: serviceFields.filter((field) => !columns.has(field)),
    unused,
    unconfirmed: findUnconfirmed(records, single),
    dates: dateColumns.length === 0 ? undefined : guessDateFormat(dateColumns.flatMap(valuesOf)),
    delimiter,
    skipRows,
    encoding,
    encodingGuess: findGuess(sample),
    isOfDayBefore: findDayBefore(found, single.map(valuesOf)),
  };
}

async function readSample({ day, open }: Export, signal: AbortSignal) {
  try {
    const lines = await (await open('ndjson'))(day, signal);
    if (lines.columns.length > 0) return { kind: 'ndjson' as const, sample: lines };
    const table = await (await open('csv'))(day, signal);
    if (isHeader(table.columns)) return { kind: 'csv' as const, sample: table };
  } catch (error) {
    throw error instanceof SourceError ? new UsageError(error.message) : error;
  }
  throw new UsageError(
    'the file is no export: its first line is neither a header with the names of columns nor a JSON object',
  );
}

/** Without a header the first line is a booking, which has a number or a date. Its cells must not be shown. */
function isHeader(names: Sample['columns']): boolean {
  const readDate = createDateReader();
  return (
    names.some((name) => name !== '') &&
    names.every((name) => !/^[\d\s.,/:-]+$/.test(name) && readDate(name) === undefined)
  );
}

const nearlyAll = 0.9;
const halfADay = 43_200_000;

/**
 * Many exports are named by the day on which they were written, the one after their bookings. A column of the dates on which they
 * were booked shows that; without one, a file that was written in the first half of the day it names.
 */
function findDayBefore({ day, written }: Export, columns: readonly string[][]): string | undefined {
  if (written === undefined) return undefined;
  const readings = columns.flatMap((values) =>
    guessDateFormat(values).map(({ format }) => values.map(createDateReader(format))),
  );
  const isOf = ({ iso }: BusinessDay) =>
    readings.some((dates) => dates.filter((date) => date === iso).length > dates.length * nearlyAll);
  if (isOf(day)) return undefined;
  if (isOf(day.previous())) return 'its bookings were made on the day before';
  const age = written.getTime() - day.firstInstant.getTime();
  return age >= 0 && age < halfADay ? 'it was written before noon of the day that it names' : undefined;
}

/** A date-fns pattern, and how many dates it reads. Nearly every export has some broken ones, which a review treats as missing. */
export interface DateReading {
  readonly format: string;
  readonly read: number;
  /** The number of all dates. */
  readonly seen: number;
}

/** What is understood without a setting. */
export const usualFormat = 'yyyy-MM-dd';

const formats = [
  'dd/MM/yyyy',
  'MM/dd/yyyy',
  'dd.MM.yyyy',
  'dd-MM-yyyy',
  'MM-dd-yyyy',
  'yyyy/MM/dd',
  'yyyy.MM.dd',
  'yyyyMMdd',
  'ddMMyyyy',
  'MMddyyyy',
  'dd MMM yyyy',
  'dd-MMM-yyyy',
] as const;

/** Nobody books in other years. Without this, `20101112` could be in the year 1112. */
const plausibleYears = /^(?:19|20|21)\d{2}-/;

/** A pattern that reads less is not the right one. */
const minShare = 0.9;

/** Finds the date-fns pattern that fits nearly all dates: none if they are no dates, several if they are ambiguous. */
export function guessDateFormat(dates: readonly string[]): readonly DateReading[] {
  // Values that a review treats as missing, such as NULL, are not dates.
  const written = dates.map((date) => readField('date', date)).filter((date) => typeof date === 'string');
  const seen = written.length;
  const isUsual = createDateReader();
  const usual = written.filter((date) => isUsual(date) !== undefined).length;
  const readings = formats.map((format) => {
    const read = createDateReader(format);
    // Every pattern reads YYYY-MM-DD as well.
    const fits = (date: string) => isUsual(date) !== undefined || plausibleYears.test(read(date) ?? '');
    return { format, fitting: new Set(written.flatMap((date, at) => (fits(date) ? [at] : []))) };
  });
  const most = Math.max(...readings.map(({ fitting }) => fitting.size));
  if (most < seen * minShare) return [];
  if (most === usual) return [{ format: usualFormat, read: usual, seen }];
  const isBettered = (fitting: ReadonlySet<number>) =>
    readings.some(
      (other) => other.fitting.size > fitting.size && [...fitting].every((at) => other.fitting.has(at)),
    );
  return readings
    .filter(({ fitting }) => fitting.size >= seen * minShare && !isBettered(fitting))
    .map(({ format, fitting }) => ({ format, read: fitting.size, seen }));
}

import { UsageError } from '../../base/safe-error.js';
import { type ServiceField, serviceFields } from '../../booking/booking.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { readField } from '../../booking/field-text.js';
import { matchColumns } from '../../booking/match-columns.js';
import { SourceError } from '../../booking/source.js';
import { createDateReader } from '../../booking/written-date.js';
import type { RowFilter } from '../../sources/common/row-filter.js';
import type { Sample, SampleDay } from '../../sources/common/sample.js';
import { type EncodingGuess, findGuess } from '../examination/encoding-check.js';
import { describeUnconfirmed, findUnconfirmed, type Unconfirmed } from '../examination/unconfirmed.js';
import { writeYaml } from '../examination/write-yaml.js';
import type { SourceText, Written } from './configuration-text.js';

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
interface DateReading {
  readonly format: string;
  readonly read: number;
  /** The number of all dates. */
  readonly seen: number;
}

/** What is understood without a setting. */
const usualFormat = 'yyyy-MM-dd';

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

const shownNames = 40;

interface FoundExport {
  readonly examined: Examined;
  /** The file, from the configuration's folder. */
  readonly location: string;
  /** The same with a placeholder for the day. */
  readonly path: string;
  readonly encoding: string;
  /** What is cancelled and left out. */
  readonly where: RowFilter;
}

/** The settings of the source of which an export was examined. */
export function writeSource({ examined, location, path, encoding, where }: FoundExport): SourceText {
  const { kind, unconfirmed, delimiter = ',', skipRows = 0, isOfDayBefore } = examined;
  const given = (value: unknown, usual: unknown) => (value === usual ? {} : { yaml: writeYaml(value) });
  const settings: Readonly<Record<string, Written>> = {
    path: {
      yaml: writeYaml(path),
      ...(isOfDayBefore && { note: `${location} holds the bookings of the day before: ${isOfDayBefore}.` }),
    },
    encoding: given(encoding, 'utf-8'),
    delimiter: given(delimiter, ','),
    skipRows: given(skipRows, 0),
    columns: writeColumns(examined, location),
    where: {
      ...(Object.keys(where).length > 0 && { yaml: writeYaml(where) }),
      ...(unconfirmed && { note: `As \`init\` found it: ${describeUnconfirmed(unconfirmed)}` }),
    },
    dateFormat: writeDateFormat(examined.dates, location),
  };
  return { kind, settings, secrets: {} };
}

/** The fields whose columns have other names, and those without a column. */
function writeColumns({ columns, missing, unused }: Examined, location: string): Written {
  const ownNames = serviceFields.filter((field) => columns.get(field) === field);
  // If no name is known, the first line may not be a header but a booking, which names a guest.
  const others =
    columns.size === 0 ? `None of its ${unused.length} columns has a known name.` : describeUnused(unused);
  const absent = missing.filter((field) => field !== 'ServiceId');
  const notes = [
    `Found in ${location} by the names of its columns. Please check them.`,
    ownNames.length > 0 && `Under the service's own names: ${ownNames.join(', ')}.`,
    absent.length > 0 && describeAbsent(absent),
    unused.length > 0 && others,
    missing.includes('ServiceId') && 'PLACEHOLDER: which column holds the master hotel id? It is required.',
  ].filter((note) => note !== false);
  const written = serviceFields.flatMap((field) => {
    const name = columns.get(field) ?? (field === 'ServiceId' || columns.size === 0 ? field : false);
    return name === field ? [] : [`\n    ${field}: ${writeYaml(name)}`];
  });
  return { note: notes.join('\n'), ...(written.length > 0 && { yaml: written.join('') }) };
}

const describeAbsent = (fields: readonly ServiceField[]) =>
  `Not found: ${fields.join(', ')}. Name their columns in source.columns; false says that the source has none, and then they are not sent.`;

const describeUnused = (names: readonly string[]) => `Unused columns: ${listNames(names)}.`;

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, shownNames).map((name) => JSON.stringify(name));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function writeDateFormat(readings: readonly DateReading[] | undefined, location: string): Written {
  if (readings === undefined) return {};
  const [first, another] = readings;
  if (first === undefined)
    return {
      note: `PLACEHOLDER: the format of the dates in ${location} was not recognised. Write it as a date-fns pattern such as dd/MM/yyyy.`,
    };
  if (another !== undefined) {
    const formats = readings.map(({ format }) => format).join(' or ');
    return { note: `PLACEHOLDER: the dates of ${location} are ambiguous, ${formats}. Choose one.` };
  }
  const { format, read, seen } = first;
  return {
    ...(format !== usualFormat && { yaml: format }),
    ...(read < seen && {
      note: `Reads ${read} of the first ${seen} dates in ${location}. The others are left out of their bookings.`,
    }),
  };
}

/** What was understood of an export, for people. */
export function describeExport({ examined, location, path, encoding, where }: FoundExport): string {
  const { columns, missing, unused, unconfirmed, isOfDayBefore } = examined;
  const fields = [...columns].map(
    ([field, name]: [ServiceField, string]) => `${field}: ${JSON.stringify(name)}`,
  );
  return [
    `${location}: ${columns.size} of the 7 fields found by the names of its columns.${encoding === 'utf-8' ? '' : ` The file is in ${encoding}.`}`,
    ...fields,
    ...(missing.length > 0 ? [describeAbsent(missing)] : []),
    ...(missing.length > 0 && unused.length > 0 && columns.size > 0 ? [describeUnused(unused)] : []),
    `The file of a day: ${path}${isOfDayBefore ? `, named by the next day: ${isOfDayBefore}` : ''}`,
    ...(unconfirmed ? [describeUnconfirmed(unconfirmed)] : []),
    ...(Object.keys(where).length > 0
      ? [`Cancelled bookings are left out, and count as filtered: where: ${writeYaml(where)}`]
      : []),
  ].join('\n');
}

/** A source that lacks a column has no booking that could stand in the file. */
export function describeIncomplete({ missing }: Examined): Written {
  const absent = missing.filter((field) => field !== 'ServiceId');
  if (absent.length === 0) return {};
  return {
    note: `PLACEHOLDER: the source has no ${absent.join(', ')}, and a file may not have empty cells. Choose post, reject or leave-empty.`,
  };
}

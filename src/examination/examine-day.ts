import { type ServiceField, serviceFields } from '../booking/booking.js';
import type { BusinessDay } from '../booking/business-day.js';
import { createDateReader } from '../booking/written-date.js';
import { SourceError } from '../review/source.js';
import type { SourceKind } from '../setup/answers/source-answers.js';
import type { Sample, SampleDay } from '../setup/samples/sample.js';
import { type DateGuess, guessDateFormat } from './guess-date-format.js';
import { matchColumns } from './match-columns.js';

/** What a day's bookings already tell of the settings of their source. No cell of them. */
export type Examination =
  /** There is nothing yet: no file of any day, no module. */
  | { readonly kind: 'no-file' }
  /** Not looked at, because something is not known. */
  | { readonly kind: 'untried'; readonly unknown: readonly string[] }
  /** It could not be had. */
  | { readonly kind: 'failed'; readonly place: string; readonly day: string; readonly reason: string }
  /** It was read, and is no bookings. */
  | { readonly kind: 'unusable'; readonly place: string; readonly day: string; readonly reason: string }
  | Examined;

export interface Examined {
  readonly kind: 'examined';
  /** For people; a file of this machine relative to the configuration's folder. */
  readonly place: string;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly columns: ReadonlyMap<ServiceField, string>;
  /** The fields for which a column is still to be found. */
  readonly missing: readonly ServiceField[];
  readonly unused: readonly string[];
  readonly dates: DateGuess | { readonly kind: 'no-column' };
  readonly delimiter: string | undefined;
}

interface ExaminedDay {
  readonly kind: SourceKind;
  /** Of a file of this machine it is known that it is there. */
  readonly isLocal: boolean;
  /** How the day is called to people. */
  readonly place: string;
  readonly day: BusinessDay;
  /** The columns that are known already. */
  readonly columns?: ReadonlyMap<ServiceField, string> | undefined;
}

/** Reads the beginning of a day's bookings, and tells what can be told by it. */
export async function examineDay(
  { kind, isLocal, place, day, columns }: ExaminedDay,
  sampleDay: SampleDay,
  signal: AbortSignal,
): Promise<Examination> {
  const where = { place, day: day.iso };
  let sample: Sample;
  try {
    sample = await sampleDay(day, signal);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return isLocal && error.fault !== 'missing'
      ? { kind: 'unusable', ...where, reason: `it can't be read as an export (${error.fault})` }
      : { kind: 'failed', ...where, reason: error.message };
  }
  const objection = findObjection(kind, sample, day);
  return objection === undefined
    ? { ...where, ...examineSample(sample, columns) }
    : { kind: 'unusable', ...where, reason: objection };
}

function examineSample(
  { columns: names, records, delimiter }: Sample,
  known: ReadonlyMap<ServiceField, string> | undefined,
) {
  const { columns, unused } = matchColumns(names, known);
  const dateColumns = [columns.get('CheckInDate'), columns.get('CheckOutDate')].filter(
    (name) => name !== undefined,
  );
  const dates = records.flatMap((record) => dateColumns.map((name) => record.get(name) ?? ''));
  return {
    kind: 'examined' as const,
    columns,
    missing: serviceFields.filter((field) => !columns.has(field)),
    unused,
    dates: dateColumns.length === 0 ? { kind: 'no-column' as const } : guessDateFormat(dates),
    delimiter,
  };
}

/** Why nothing can be told by a sample; undefined where something can. */
function findObjection(kind: SourceKind, { columns }: Sample, day: BusinessDay): string | undefined {
  switch (kind) {
    case 'csv':
      return isHeader(columns) ? undefined : 'its first line is no header with the names of the columns';
    case 'ndjson':
      return columns.length > 0 ? undefined : 'no line of its beginning is a JSON object';
    case 'sql':
    case 'http':
    case 'module':
      return columns.length > 0 ? undefined : `it holds no booking of ${day.iso}`;
  }
}

/** Where the header is missing, a booking stands in its place, which has a number or a date. Its cells are told nobody. */
function isHeader(names: readonly string[]): boolean {
  const readDate = createDateReader();
  return (
    names.some((name) => name !== '') &&
    names.every((name) => !/^[\d\s.,/:-]+$/.test(name) && readDate(name) === undefined)
  );
}

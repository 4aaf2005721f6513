import { type ServiceField, serviceFields } from '../../booking/booking.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { matchColumns } from '../../booking/match-columns.js';
import { SourceError } from '../../booking/source.js';
import type { RowFilter } from '../../sources/common/row-filter.js';
import type { Sample, SampleDay } from '../../sources/common/setup.js';
import { type EncodingGuess, findGuess } from './encoding-check.js';
import { type DateGuess, guessDateFormat } from './guess-date-format.js';
import { findUnconfirmed, type Unconfirmed } from './unconfirmed.js';

/**
 * What a day's bookings show about the settings of their source. It holds no cell of them but words for a state and, masked, words with
 * accents.
 */
export type Examination =
  /** There is nothing to examine yet: no file for any day, no module. */
  | { readonly kind: 'no-file' }
  /** Not tried, because settings are missing. */
  | { readonly kind: 'untried'; readonly unknown: readonly string[] }
  /** The source could not be read, or has nothing for that day yet. */
  | {
      readonly kind: 'failed';
      readonly location: string;
      readonly day: string;
      readonly reason: string;
      /** There are no bookings of that day yet. */
      readonly isMissing?: boolean;
    }
  /** It is there, but is no readable export, or holds no usable bookings. */
  | { readonly kind: 'unusable'; readonly location: string; readonly day: string; readonly reason: string }
  | Examined;

export interface Examined {
  readonly kind: 'examined';
  /** For people; a file on this machine relative to the configuration's folder. */
  readonly location: string;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly columns: ReadonlyMap<ServiceField, string>;
  /** The fields without a column. */
  readonly missing: readonly ServiceField[];
  readonly unused: readonly string[];
  /** Records that look cancelled by an unused column. */
  readonly unconfirmed?: Unconfirmed | undefined;
  /** What a person chose to leave out. */
  readonly where?: RowFilter | undefined;
  readonly dates: DateGuess | { readonly kind: 'no-column' };
  readonly delimiter: string | undefined;
  readonly skipRows?: number | undefined;
  /** Only for a file. */
  readonly encoding?: string | undefined;
  readonly encodingGuess?: EncodingGuess | undefined;
}

interface ExaminedDay {
  /** A file on this machine, which is known to exist. */
  readonly isLocal: boolean;
  /** Names the day's bookings for people. */
  readonly location: string;
  readonly day: BusinessDay;
  /** The columns that are known already. */
  readonly columns?: ReadonlyMap<ServiceField, string> | undefined;
  /** Why a sample shows nothing; undefined if it does. */
  readonly findObjection: (sample: Sample, day: BusinessDay) => string | undefined;
}

/** Reads the first bookings of a day, and finds out what they show. */
export async function examineDay(
  { isLocal, location, day, columns, findObjection }: ExaminedDay,
  sampleDay: SampleDay,
  signal: AbortSignal,
): Promise<Examination> {
  const where = { location, day: day.iso };
  let sample: Sample;
  try {
    sample = await sampleDay(day, signal);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return isLocal && error.fault !== 'missing'
      ? { kind: 'unusable', ...where, reason: explainUnusable(error) }
      : {
          kind: 'failed',
          ...where,
          reason: error.message,
          ...(error.fault === 'missing' && { isMissing: true }),
        };
  }
  const objection = findObjection(sample, day);
  return objection === undefined
    ? { ...where, ...examineSample(sample, columns) }
    : { kind: 'unusable', ...where, reason: objection };
}

function examineSample(sample: Sample, known: ReadonlyMap<ServiceField, string> | undefined) {
  const { columns: names, records, delimiter, skipRows, encoding } = sample;
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
    unconfirmed: findUnconfirmed(
      records,
      unused.filter((name) => names.indexOf(name) === names.lastIndexOf(name)),
    ),
    dates: dateColumns.length === 0 ? { kind: 'no-column' as const } : guessDateFormat(dates),
    delimiter,
    skipRows,
    encoding,
    encodingGuess: findGuess(sample),
  };
}

/** For a binary file, only the message says what kind it is. */
function explainUnusable({ fault, message }: SourceError): string {
  const reason = fault === 'binary' ? message : fault;
  return `it can't be read as an export (${reason})`;
}

import { relative, resolve, sep } from 'node:path';
import { type ServiceField, serviceFields } from '../booking/booking.js';
import { createBusinessDay } from '../booking/business-day.js';
import { createDateReader } from '../booking/written-date.js';
import { parsePathTemplate } from '../sources/path-template.js';
import { SourceError } from '../sources/source.js';
import { findExport } from './find-export.js';
import { type DateGuess, guessDateFormat } from './guess-date-format.js';
import { matchColumns } from './match-columns.js';
import { readSample } from './read-sample.js';

/** What an export that is there already tells of the settings of its source. No cell of it. */
export type Examination =
  | { readonly kind: 'no-file' }
  | { readonly kind: 'unusable'; readonly file: string; readonly day: string; readonly reason: string }
  | {
      readonly kind: 'examined';
      /** Relative to the configuration's folder. */
      readonly file: string;
      readonly day: string;
      readonly columns: ReadonlyMap<ServiceField, string>;
      /** The fields for which a column is still to be found. */
      readonly missing: readonly ServiceField[];
      readonly unused: readonly string[];
      readonly dates: DateGuess | { readonly kind: 'no-column' };
      readonly delimiter: string | undefined;
    };

export interface ExaminedSource {
  readonly kind: 'csv' | 'ndjson';
  /** Relative to the folder. */
  readonly path: string;
  /** Those that are known already. */
  readonly columns?: ReadonlyMap<ServiceField, string>;
}

interface Surroundings {
  /** The configuration's. */
  readonly folder: string;
  /** YYYY-MM-DD */
  readonly today: string;
  readonly signal: AbortSignal;
}

/** Looks for the newest file of a source and reads its beginning. */
export async function examineExport(
  { kind, path, columns: known }: ExaminedSource,
  { folder, today, signal }: Surroundings,
): Promise<Examination> {
  // Only the day's name counts here, and that is the same in every zone.
  const locate = parsePathTemplate(path);
  const found = await findExport((day) => resolve(folder, locate(day)), createBusinessDay(today, 'UTC'));
  if (!found) return { kind: 'no-file' };
  const place = { file: relative(folder, found.path).replaceAll(sep, '/'), day: found.day.iso };
  try {
    const { columns: names, records, delimiter } = await readSample(found.path, kind, signal);
    if (kind === 'csv' && !isHeader(names)) {
      return {
        kind: 'unusable',
        ...place,
        reason: 'its first line is no header with the names of the columns',
      };
    }
    if (names.length === 0) {
      return { kind: 'unusable', ...place, reason: 'no line of its beginning is a JSON object' };
    }
    const { columns, unused } = matchColumns(names, known);
    const dateColumns = [columns.get('CheckInDate'), columns.get('CheckOutDate')].filter(
      (name) => name !== undefined,
    );
    const dates = records.flatMap((record) => dateColumns.map((name) => record.get(name) ?? ''));
    return {
      kind: 'examined',
      ...place,
      columns,
      missing: serviceFields.filter((field) => !columns.has(field)),
      unused,
      dates: dateColumns.length === 0 ? { kind: 'no-column' } : guessDateFormat(dates),
      delimiter,
    };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { kind: 'unusable', ...place, reason: `it can't be read as an export (${error.fault})` };
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

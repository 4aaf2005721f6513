import { cleanText } from '../../booking/field-text.js';
import {
  type BookingSource,
  filteredAtMost,
  type SourceChunk,
  SourceError,
  type SourceRecord,
} from '../../review/source.js';

type Scalar = string | number | boolean;
type Values = readonly Scalar[];

/** By column: the values that a record must have one of, or must not have. */
export type RowFilter = Readonly<Record<string, Values | { readonly not: Values }>>;

/** The columns that a filter looks at, for `extraColumns`. */
export const listFilterColumns = (filter: RowFilter): readonly string[] => Object.keys(filter);

/**
 * Wraps a source whose records have the filter's columns as `extras`: leaves out the records that don't match, and counts
 * them. A record that can't be read stays in: what it holds is unknown. Values are compared as texts, cleaned like those of
 * bookings; a missing value is an empty text.
 *
 * `read` throws a SourceError `missing-column` for a column that no record has.
 */
export function createFilteredSource(source: BookingSource, filter: RowFilter): BookingSource {
  const columns = listFilterColumns(filter);
  if (columns.length === 0) return source;
  const tests = Object.values(filter).map(createValueTest);
  return {
    locate: (day) => source.locate(day),
    placeUnit: source.placeUnit,
    measure: (day) => source.measure(day),
    async *read(day, { signal, atMost }) {
      const limit = atMost === undefined ? Number.POSITIVE_INFINITY : Math.max(atMost, filteredAtMost);
      let looked = 0;
      const wasFound = columns.map(() => false);
      let isEmpty = true;
      const matches = (record: SourceRecord) => {
        if (!('fields' in record)) return true;
        isEmpty = false;
        let isMatch = true;
        for (let at = 0; at < tests.length; at += 1) {
          const value = record.extras?.[at];
          if (value !== undefined) wasFound[at] = true;
          if (!tests[at]?.(value)) isMatch = false;
        }
        return isMatch;
      };
      // How many records match is not known in advance.
      for await (const chunk of source.read(day, {
        signal,
        ...(atMost !== undefined && { atMost: limit }),
      })) {
        yield filterChunk(cutChunk(chunk, limit - looked), matches);
        looked += chunk.records.length;
        if (looked >= limit) break;
      }
      const absent = columns.find((_, at) => !wasFound[at]);
      if (isEmpty || absent === undefined) return;
      throw new SourceError(
        'missing-column',
        `no record of ${source.locate(day)} has ${JSON.stringify(absent)} (for source.where)`,
      );
    },
  };
}

function cutChunk(chunk: SourceChunk, most: number): SourceChunk {
  return chunk.records.length <= most ? chunk : { ...chunk, records: chunk.records.slice(0, most) };
}

function filterChunk(chunk: SourceChunk, matches: (record: SourceRecord) => boolean): SourceChunk {
  const records = chunk.records.filter(matches);
  const filtered = chunk.records.length - records.length;
  return filtered === 0 ? chunk : { ...chunk, records, filtered };
}

/** Whether a record's value in that column meets the condition. */
export function createValueTest(condition: RowFilter[string]): (value: unknown) => boolean {
  if (!('not' in condition)) {
    const wanted = listTexts(condition);
    return (value) => wanted.has(readText(value));
  }
  const unwanted = listTexts(condition.not);
  return (value) => !unwanted.has(readText(value));
}

function listTexts(values: Values): ReadonlySet<string | undefined> {
  return new Set(values.map(readText));
}

/** Undefined for anything that is not text, such as an object. */
function readText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return cleanText(value);
    case 'undefined':
      return '';
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value === null ? '' : undefined;
  }
}

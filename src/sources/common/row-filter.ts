import { foldCase } from '../../booking/field-text.js';
import { matchColumns } from '../../booking/match-columns.js';
import {
  type BookingSource,
  type FilterColumn,
  type FilterValue,
  filteredAtMost,
  type SourceChunk,
  type SourceColumns,
  type SourceRecord,
} from '../../booking/source.js';
import { type Condition, createNameTest, isNegated, isOfWords, readValue } from './where-condition.js';

/** By column: what a record must have in it, or must not have. */
export type RowFilter = Readonly<Record<string, Condition>>;

/**
 * Wraps a source whose records have the filter's columns as `filterValues`: leaves out the records that don't match, and counts
 * them. A record that can't be read stays in: what it holds is unknown. Each chunk says what the columns held so far.
 *
 * @param columns those of the fields: what guests are called is counted, and not listed
 */
export function createFilteredSource(
  source: BookingSource,
  filter: RowFilter,
  columns: SourceColumns = {},
): BookingSource {
  const conditions = Object.entries(filter);
  if (conditions.length === 0) return source;
  return {
    locate: (day) => source.locate(day),
    placeUnit: source.placeUnit,
    measure: (day) => source.measure(day),
    async *read(day, { signal, atMost }) {
      const limit = atMost === undefined ? Number.POSITIVE_INFINITY : Math.max(atMost, filteredAtMost);
      const counts = conditions.map(([column, condition]) =>
        createColumnCount(column, condition, isOfNames(column, columns)),
      );
      let looked = 0;
      const matches = (record: SourceRecord) => {
        if (!('fields' in record)) return true;
        const { filterValues } = record;
        let isMatch = true;
        for (let at = 0; at < counts.length; at += 1) {
          if (!counts[at]?.takes(filterValues?.[at])) isMatch = false;
        }
        return isMatch;
      };
      // How many records match is not known in advance.
      for await (const chunk of source.read(day, {
        signal,
        ...(atMost !== undefined && { atMost: limit }),
      })) {
        const taken = filterChunk(cutChunk(chunk, limit - looked), matches);
        yield { ...taken, where: counts.map((count) => count.read()) };
        looked += chunk.records.length;
        if (looked >= limit) break;
      }
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

function isOfNames(
  column: string,
  { BookingClientName: names = 'BookingClientName' }: SourceColumns,
): boolean {
  if (names !== false && column.toLowerCase() === names.toLowerCase()) return true;
  return matchColumns([column]).columns.has('BookingClientName');
}

/** More values are no list of states, and neither are long ones. */
const mostValues = 20;
const longestValue = 60;
/** As the source holds them, with white space and in other spellings. */
const mostSpellings = 5 * mostValues;
const longestSpelling = 200;

/** Decides and counts by value, as most columns have few: a value that was seen is looked up. */
function createColumnCount(column: string, condition: Condition, isHidden: boolean) {
  const isNamed = createNameTest(condition);
  const takesNamed = !isNegated(condition);
  const setting = { column, condition: JSON.stringify(condition), isOfWords: isOfWords(condition) };
  const seen = new Map<unknown, { -readonly [key in keyof FilterValue]: FilterValue[key] }>();
  /** With values that are not among the seen ones. */
  const others = { taken: 0, leftOut: 0 };

  function listValues(): readonly FilterValue[] | undefined {
    if (isHidden || others.taken + others.leftOut > 0) return undefined;
    const values = new Map<string, FilterValue>();
    for (const one of seen.values()) {
      const key = foldCase(one.value);
      const same = values.get(key);
      values.set(key, same ? { ...same, records: same.records + one.records } : { ...one });
    }
    const isList =
      values.size <= mostValues + (values.has('') ? 1 : 0) &&
      [...values.keys()].every((value) => value.length <= longestValue);
    return isList ? [...values.values()].sort((one, other) => other.records - one.records) : undefined;
  }

  return {
    takes(value: unknown): boolean {
      const known = seen.get(value);
      if (known !== undefined) {
        known.records += 1;
        return known.isTaken;
      }
      const named = isNamed(value);
      const isTaken = named === takesNamed;
      const isShort = typeof value !== 'string' || value.length <= longestSpelling;
      if (isShort && seen.size < mostSpellings)
        seen.set(value, { value: readValue(value) ?? notText, records: 1, isTaken, isNamed: named });
      else if (isTaken) others.taken += 1;
      else others.leftOut += 1;
      return isTaken;
    },
    read(): FilterColumn {
      let { taken, leftOut } = others;
      for (const { isTaken, records } of seen.values()) {
        if (isTaken) taken += records;
        else leftOut += records;
      }
      const values = listValues();
      return { ...setting, taken, leftOut, ...(values && { values }) };
    },
  };
}

/** Stands for the value of a member that is an object or a list. */
const notText = '{…}';

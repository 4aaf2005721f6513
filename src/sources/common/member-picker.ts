import { buildRecord } from '../../booking/booking.js';
import type { SourceNotice, SourceRecord } from '../../booking/source.js';
import { describeNames, listFieldColumns, requireColumns, type WantedColumns } from './columns.js';

/** The default maximum of records per chunk. */
export const recordsInChunk = 1_000;

/** What a reader returns where an object has no such member. */
export const absent = Symbol('absent');

type Members = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Picks a booking's fields, and what else is asked for, out of objects, and knows which members no object had.
 *
 * @param read returns the member of the current object with this name, at this index of the names, or `absent`
 */
export function createMemberPicker(
  { columns = {}, filterColumns = [], extraColumns = [] }: WantedColumns,
  read: (name: string, index: number) => unknown,
) {
  const fieldColumns = listFieldColumns(columns);
  const firstExtra = fieldColumns.length + filterColumns.length;
  const names = [...fieldColumns.map((one) => one?.column), ...filterColumns, ...extraColumns];
  const wasFound = names.map(() => false);
  /** The members of the first object. */
  let firstNames: readonly string[] | undefined;

  function find(index: number): unknown {
    const name = names[index];
    const value = name === undefined ? absent : read(name, index);
    if (value === absent) return undefined;
    wasFound[index] = true;
    return value;
  }

  return {
    /** Of the fields, in the table's order, then of the others; undefined for a field that the source does not have. */
    names,
    fieldCount: fieldColumns.length,
    /** @param whole the current object */
    pick(place: number, whole: Members): SourceRecord {
      firstNames ??= Object.keys(whole);
      const fields = buildRecord(find);
      if (names.length === fieldColumns.length) return { place, fields, whole };
      const filterValues = filterColumns.map((_, index) => find(fieldColumns.length + index));
      const extraValues = extraColumns.map((_, index) => find(firstExtra + index));
      return { place, fields, whole, filterValues, extraValues };
    },
    /** The extra columns that no object has had so far; none before the first object. */
    findAbsent(): readonly SourceNotice[] {
      if (firstNames === undefined) return [];
      return extraColumns
        .filter((_, index) => !wasFound[firstExtra + index])
        .map((column) => ({ kind: 'absent-column', column }) as const);
    },
    /** @param location of all objects, for messages @throws SourceError `missing-member` for a field that no object had */
    requireFields(location: string): void {
      if (firstNames === undefined) return;
      const first = describeNames(firstNames);
      requireColumns(fieldColumns, {
        fault: 'missing-member',
        isThere: (index) => wasFound[index] ?? false,
        describe: (shown) => `no record of ${location} has the member ${shown}; the first one has ${first}`,
      });
    },
  };
}

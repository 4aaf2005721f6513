import { basename } from 'node:path';
import type { ServiceField } from '../../booking/booking.js';
import type { BookingSource, SourceColumns, SourceNotice, SourceRecord } from '../../booking/source.js';
import { describeNames, listFieldColumns, requireColumns } from '../common/columns.js';
import type { SourceMessages } from '../common/kind.js';
import { recordsInChunk } from '../common/record-chunks.js';
import { createDayItems, type DayItemsOptions } from './day-items.js';
import { describeModuleFailure } from './load-module.js';

export interface ModuleSourceOptions extends DayItemsOptions {
  /** The member for each field, if it is not named like the field; `guest.name` is a member of a nested object. */
  readonly columns?: SourceColumns;
  /** Further members, whose values every record has as `filterValues`. */
  readonly filterColumns?: readonly string[];
  /** Members that are kept with the booking, and may be absent: every record has their values as `extraValues`. */
  readonly extraColumns?: readonly string[];
  /** A record with more bytes of text is skipped and reported; 1 MB by default. (Design 4.) */
  readonly recordLimit?: number;
}

/**
 * Reads the day's bookings from a module of the user's own: see `BookingsModule`. Records are pulled on demand, a thousand
 * per chunk. `place` is the record's number, counted from 1.
 *
 * `read` throws a SourceError: `missing` if there is no such file, `unreadable` for a module that can't be loaded, has no
 * `bookings`, or throws: with class, code, position and stack of what it threw, but never its message; `missing-member` if no
 * record has the member for a field.
 */
export function createModuleSource(options: ModuleSourceOptions): BookingSource {
  const { path } = options;
  const { read } = createDayItems(options);
  return {
    locate: ({ iso }) => `${path} for ${iso}`,
    placeUnit: 'record',
    measure: () => Promise.resolve(undefined),
    async *read(day, { signal, atMost = recordsInChunk }) {
      const picker = createRecordPicker(options);
      let place = 0;
      function* take(items: readonly unknown[]): Generator<SourceRecord, void> {
        for (const item of items) {
          place += 1;
          yield picker.pick(place, item);
        }
      }
      // A caller that wants a few records must not wait for a thousand.
      const chunkRecords = Math.min(atMost, recordsInChunk);
      let records: SourceRecord[] = [];
      for await (const record of read(day, { signal, take })) {
        records.push(record);
        if (records.length < chunkRecords) continue;
        yield { records };
        signal.throwIfAborted();
        records = [];
      }
      if (records.length > 0) yield { records };
      signal.throwIfAborted();
      const notices = picker.findAbsent();
      if (notices.length > 0) yield { records: [], notices };
      signal.throwIfAborted();
      picker.requireFields(path);
    },
  };
}

/**
 * Picks a booking's fields out of objects. A field is the member with exactly that name. If there is none and the name has dots, it is a path into nested objects:
 * `guest.name`. A bigint becomes a string of its digits.
 */
function createRecordPicker({
  columns = {},
  filterColumns = [],
  extraColumns = [],
  recordLimit = 1_000_000,
}: ModuleSourceOptions) {
  const fieldColumns = listFieldColumns(columns);
  const wasFound = new Set<string>();
  /** The members of the first object. */
  let firstNames: readonly string[] | undefined;

  function findExtraColumn(record: Readonly<Record<string, unknown>>, name: string): unknown {
    const found = find(record, name);
    if (found !== undefined) wasFound.add(name);
    return found?.value;
  }

  return {
    pick(place: number, record: unknown): SourceRecord {
      if (!isObject(record)) return { place, unreadable: 'not-an-object' };
      firstNames ??= Object.keys(record);
      const fields: { [field in ServiceField]?: unknown } = {};
      let bytes = 0;
      for (const one of fieldColumns) {
        if (one === undefined) continue;
        const { field, column } = one;
        const found = find(record, column);
        if (found === undefined) continue;
        wasFound.add(column);
        const value = typeof found.value === 'bigint' ? String(found.value) : found.value;
        if (typeof value === 'string') bytes += Buffer.byteLength(value);
        fields[field] = value;
      }
      if (bytes > recordLimit) return { place, unreadable: 'record-too-long' };
      if (filterColumns.length + extraColumns.length === 0) return { place, fields, whole: record };
      const filterValues = filterColumns.map((name) => find(record, name)?.value);
      return {
        place,
        fields,
        whole: record,
        filterValues,
        extraValues: extraColumns.map((name) => findExtraColumn(record, name)),
      };
    },
    /** The extra columns that no object has had so far; none before the first object. */
    findAbsent(): readonly SourceNotice[] {
      if (firstNames === undefined) return [];
      return extraColumns
        .filter((name) => !wasFound.has(name))
        .map((column) => ({ kind: 'absent-column', column }) as const);
    },
    /** @throws SourceError `missing-member` for a field that no object had */
    requireFields(location: string): void {
      if (firstNames === undefined) return;
      const first = describeNames(firstNames);
      requireColumns(fieldColumns, {
        fault: 'missing-member',
        isThere: (index) => wasFound.has(fieldColumns[index]?.column ?? ''),
        describe: (shown) => `no record of ${location} has the member ${shown}; the first one has ${first}`,
      });
    },
  };
}

function find(
  record: Readonly<Record<string, unknown>>,
  name: string,
): { readonly value: unknown } | undefined {
  if (name in record) return { value: record[name] };
  let value: unknown = record;
  for (const step of name.split('.')) {
    if (!isObject(value) || !(step in value)) return undefined;
    value = value[step];
  }
  return { value };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Where a bookings module writes, and where its failures are shown: standard error, for the author of the module. */
export function createModuleMessages(
  path: string,
  { say: write, showsModuleErrors: showsMessage }: SourceMessages,
): Pick<ModuleSourceOptions, 'log' | 'onFailure'> {
  // One line per message, without control characters: its text may come from a booking system.
  const say = (message: unknown) =>
    write(`${basename(path)}: ${String(message).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')}`);
  return {
    log: { info: say, warn: say },
    onFailure: (error) => write(describeModuleFailure(error, { path, showsMessage })),
  };
}

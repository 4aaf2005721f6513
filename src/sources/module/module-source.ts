import { basename } from 'node:path';
import type { BookingSource, SourceRecord } from '../../booking/source.js';
import type { WantedColumns } from '../common/columns.js';
import type { SourceMessages } from '../common/kind.js';
import { absent, createMemberPicker, isObject, recordsInChunk } from '../common/member-picker.js';
import { type DayItemsOptions, explainItems, readItems } from './day-items.js';
import { describeModuleFailure } from './load-module.js';

export interface ModuleSourceOptions extends DayItemsOptions, WantedColumns {
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
  return {
    locate: ({ iso }) => `${path} for ${iso}`,
    placeUnit: 'record',
    measure: () => Promise.resolve(undefined),
    async *read(day, { signal, atMost = recordsInChunk }) {
      const picker = createRecordPicker(options);
      // A caller that wants a few records must not wait for a thousand.
      const chunkRecords = Math.min(atMost, recordsInChunk);
      let place = 0;
      let records: SourceRecord[] = [];
      try {
        for await (const item of readItems(day, options, signal)) {
          for (const record of Array.isArray(item) ? item : [item]) {
            place += 1;
            // This can run the module's code, too.
            records.push(picker.pick(place, record));
            if (records.length < chunkRecords) continue;
            yield { records };
            signal.throwIfAborted();
            records = [];
          }
        }
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw explainItems(error, day, options);
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

/** A bigint becomes a string of its digits. */
function createRecordPicker({ recordLimit = 1_000_000, ...wanted }: ModuleSourceOptions) {
  let record: Readonly<Record<string, unknown>> = {};
  /** Of the texts in the fields. */
  let bytes = 0;
  const picker = createMemberPicker(wanted, (name, index) => {
    const value = find(record, name);
    if (index >= picker.fieldCount) return value;
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
    return typeof value === 'bigint' ? String(value) : value;
  });
  return {
    ...picker,
    pick(place: number, item: unknown): SourceRecord {
      if (!isObject(item)) return { place, unreadable: 'not-an-object' };
      record = item;
      bytes = 0;
      const picked = picker.pick(place, item);
      return bytes > recordLimit ? { place, unreadable: 'record-too-long' } : picked;
    },
  };
}

/** The member with exactly that name. If there is none and the name has dots, it is a path into nested objects: `guest.name`. */
function find(record: Readonly<Record<string, unknown>>, name: string): unknown {
  if (name in record) return record[name];
  let value: unknown = record;
  for (const step of name.split('.')) {
    if (!isObject(value) || !(step in value)) return absent;
    value = value[step];
  }
  return value;
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

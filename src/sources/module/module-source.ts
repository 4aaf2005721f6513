import type { BusinessDay } from '../../booking/business-day.js';
import { readDayBounds } from '../day-bounds.js';
import { recordsInChunk } from '../record-chunks.js';
import { type BookingSource, type SourceColumns, SourceError, type SourceRecord } from '../source.js';
import type { ModuleContext, ModuleDay } from './bookings-module.js';
import { loadBookings } from './load-module.js';
import { createModuleError } from './module-error.js';
import { nameError } from './name-error.js';
import { pullItems } from './pull.js';
import { createRecordPicker, type RecordPicker } from './record-picker.js';

export interface ModuleSourceOptions
  extends Pick<ModuleContext, 'log'>,
    Partial<Pick<ModuleContext, 'options'>> {
  /** The file, absolute: `.js`, `.mjs`, `.cjs`, or `.ts`. */
  readonly path: string;
  /** The member of each field, where it is not the field's own name; `guest.name` is one in a nested object. */
  readonly columns?: SourceColumns;
  /** A record with more text is skipped and reported, in bytes; 1 MB if not given. (Design 4.) */
  readonly recordLimit?: number;
  /** Told what the module threw, as it threw it, before `read` throws: for whoever wrote the module. */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * The day's bookings as a module of the user's own yields them: see `BookingsModule`. It is asked for a thousand records at
 * a time, and for no more while nobody asks. `place` is the record's number, counted from 1.
 *
 * `read` throws a SourceError: `missing` where there is no such file, `unreadable` for a module that can't be loaded, is none,
 * or throws: with class, code, place and stack of what it threw. It never quotes that one's message.
 */
export function createModuleSource({
  path,
  columns = {},
  options = {},
  recordLimit = 1_000_000,
  log,
  onFailure,
}: ModuleSourceOptions): BookingSource {
  const explain = (error: unknown, day: BusinessDay) => {
    onFailure?.(error);
    const { words } = nameError(error);
    return createModuleError(`${path} failed while it read ${day.iso}: ${words}`, error);
  };

  async function* readRecords(
    day: BusinessDay,
    picker: RecordPicker,
    signal: AbortSignal,
  ): AsyncGenerator<SourceRecord, void, undefined> {
    let place = 0;
    const pick = (item: unknown): SourceRecord => {
      place += 1;
      const picked = picker.pick(item);
      return typeof picked === 'string' ? { place, unreadable: picked } : { place, fields: picked };
    };
    const bookings = await loadBookings(path);
    signal.throwIfAborted();
    try {
      const items = bookings(toModuleDay(day), { signal, log, options } satisfies ModuleContext);
      if (!isIterable(items)) {
        throw new SourceError(
          'unreadable',
          `${path}: bookings gives nothing to go through: it needs the star of \`async function* bookings\``,
        );
      }
      for await (const item of pullItems(items, signal)) {
        for (const record of Array.isArray(item) ? item : [item]) yield pick(record);
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error instanceof SourceError ? error : explain(error, day);
    }
  }

  return {
    locate: ({ iso }) => `${path} for ${iso}`,
    placeUnit: 'record',
    measure: () => Promise.resolve(undefined),
    async *read(day, { signal }) {
      signal.throwIfAborted();
      const picker = createRecordPicker(columns, recordLimit);
      let records: SourceRecord[] = [];
      for await (const record of readRecords(day, picker, signal)) {
        records.push(record);
        if (records.length < recordsInChunk) continue;
        yield { records };
        signal.throwIfAborted();
        records = [];
      }
      if (records.length > 0) yield { records };
      signal.throwIfAborted();
      const notices = picker.absentColumns().map((column) => ({ kind: 'absent-column' as const, column }));
      if (notices.length > 0) yield { records: [], notices };
      signal.throwIfAborted();
    },
  };
}

/** Dates of its own: the day's are shared. */
function toModuleDay(day: BusinessDay): ModuleDay {
  const { start, end } = readDayBounds(day);
  return { iso: day.iso, zone: day.zone, start: new Date(start), end };
}

function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  return (
    typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}

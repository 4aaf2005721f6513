import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { answerWithin } from '../../base/abort.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { type BookingSource, SourceError, type SourceRecord } from '../../booking/source.js';
import type { WantedColumns } from '../common/columns.js';
import { readDayBounds } from '../common/day-template.js';
import type { SourceMessages } from '../common/kind.js';
import { absent, createMemberPicker, isObject, recordsInChunk } from '../common/member-picker.js';
import type { ModuleContext, ModuleDay, ModuleLog } from './bookings-module.js';
import { createModuleError, describeModuleFailure, loadBookings, nameError } from './load-module.js';

export interface ModuleSourceOptions extends WantedColumns {
  /** The file, absolute: `.js`, `.mjs`, `.cjs`, or `.ts`. */
  readonly path: string;
  readonly log: ModuleLog;
  readonly options?: Readonly<Record<string, unknown>>;
  /** Called with the error that the module threw, before `read` throws: for the author of the module. */
  readonly onFailure?: (error: unknown) => void;
  /** A record with more bytes of text is skipped and reported; 1 MB by default. */
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
) {
  // One line per message, without control characters: its text may come from a booking system.
  const say = (message: unknown) =>
    write(`${basename(path)}: ${String(message).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')}`);
  return {
    log: { info: say, warn: say },
    onFailure: (error: unknown) => write(describeModuleFailure(error, { path, showsMessage })),
  };
}

/**
 * Pulls the items that a module yields for a day, on demand, and ends its generator when the reader stops.
 *
 * @throws SourceError, and what the module throws: `explainItems` hides its message
 */
async function* readItems(
  day: BusinessDay,
  { path, log, options = {}, onFailure }: ModuleSourceOptions,
  signal: AbortSignal,
): AsyncGenerator<unknown, void, undefined> {
  signal.throwIfAborted();
  const stays = watchForExit(() =>
    log.warn(
      `it ended the process while it read ${day.iso}: the day is incomplete, and nothing of it was sent`,
    ),
  );
  // Whoever aborted the read doesn't expect the day, and may never ask for the rest.
  signal.addEventListener('abort', stays, { once: true });
  try {
    const bookings = await loadBookings(path, onFailure);
    signal.throwIfAborted();
    const items = bookings(toModuleDay(day), { signal, log, options } satisfies ModuleContext);
    if (!isIterable(items)) {
      // If it is a promise, nobody awaits its rejection.
      Promise.resolve(items).catch(() => undefined);
      throw new SourceError(
        'unreadable',
        `${path}: bookings returns nothing to iterate over: it needs the star of \`async function* bookings\``,
      );
    }
    yield* pullItems(items, signal);
  } finally {
    signal.removeEventListener('abort', stays);
    stays();
  }
}

/** The error for what ended the reading of a day. It quotes nothing of the module's own messages. */
function explainItems(
  error: unknown,
  { iso }: BusinessDay,
  { path, onFailure }: ModuleSourceOptions,
): SourceError {
  if (error instanceof SourceError) return error;
  const what = `${path} failed while it read ${iso}`;
  if (error instanceof StalledModuleError) {
    const reason =
      'bookings waits for something that can no longer happen: no timer, file or connection is left to wait for';
    return new SourceError('unreadable', `${what}: ${reason}`);
  }
  onFailure?.(error);
  return createModuleError(`${what}: ${nameError(error).words}`, error);
}

/** Copies the dates: those of the day are shared. */
function toModuleDay(day: BusinessDay): ModuleDay {
  const { start, end } = readDayBounds(day);
  return { iso: day.iso, zone: day.zone, start: new Date(start), end };
}

function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  return (
    typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}

/** How long a generator may take to return. */
const patienceMs = 1_000;

/**
 * Pulls one item after the other from a generator. When the signal aborts, the generator is told to return, and gets a second
 * for that. One that ignores the signal is abandoned.
 *
 * @throws what the generator throws, or an unhandled rejection of its work; StalledModuleError if it waits for something that
 *   can't happen; the signal's reason when it aborts
 */
async function* pullItems(
  items: AsyncIterable<unknown> | Iterable<unknown>,
  signal: AbortSignal,
): AsyncGenerator<unknown, void, undefined> {
  signal.throwIfAborted();
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let ending: Promise<unknown> | undefined;
  const end = () => {
    // Its failure no longer matters.
    ending ??= Promise.resolve(iterator.return?.()).catch(() => undefined);
    return ending;
  };
  let isOver = false;
  const failures: unknown[] = [];
  let interrupt = (): void => {};
  const fail = (error: unknown) => {
    failures.push(error);
    interrupt();
  };
  const throwIfAny = () => {
    if (failures.length > 0) throw failures[0];
  };
  const onAbort = () => {
    fail(signal.reason);
    void end();
  };
  // Either would end the process silently: Node would print the rejection's message, which may name a guest, and it would exit with
  // success where nothing can settle a promise any more.
  const onIdle = () => fail(new StalledModuleError());
  signal.addEventListener('abort', onAbort, { once: true });
  process.on('unhandledRejection', fail);
  process.on('beforeExit', onIdle);
  try {
    for (;;) {
      throwIfAny();
      // A promise for each item: a shared one would retain them all.
      const result = await new Promise<IteratorResult<unknown> | undefined>((resolve, reject) => {
        interrupt = () => resolve(undefined);
        // It may throw at once.
        (async () => iterator.next())().then(resolve, (error) => {
          isOver = true;
          reject(error);
        });
      });
      isOver = result?.done === true;
      // Unhandled rejections are reported only now.
      if (isOver) await nextTurn();
      throwIfAny();
      if (result === undefined || result.done === true) return;
      yield result.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    process.off('unhandledRejection', fail);
    process.off('beforeExit', onIdle);
    if (!isOver) await answerWithin(patienceMs, end()).catch(() => undefined);
  }
}

/** A generator is pending, and nothing is left that could resume it. */
class StalledModuleError extends Error {
  override readonly name = 'StalledModuleError';
}

/**
 * Watches, while a module reads a day, for the end of the process: it must not look like success.
 *
 * @param tell reports it; it must write synchronously
 * @returns stops the watch
 */
function watchForExit(tell: () => void): () => void {
  const onExit = (code: number) => {
    if (code !== 0) return;
    process.exitCode = 1;
    tell();
  };
  process.on('exit', onExit);
  return () => void process.off('exit', onExit);
}

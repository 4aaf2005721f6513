import { setImmediate as nextTurn } from 'node:timers/promises';
import { answerWithin } from '../../base/abort.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { SourceError } from '../../booking/source.js';
import { readDayBounds } from '../common/day-template.js';
import type { ModuleContext, ModuleDay, ModuleLog } from './bookings-module.js';
import { createModuleError, loadBookings, nameError } from './load-module.js';

export interface DayItemsOptions {
  /** The file, absolute: `.js`, `.mjs`, `.cjs`, or `.ts`. */
  readonly path: string;
  readonly log: ModuleLog;
  readonly options?: Readonly<Record<string, unknown>>;
  /** Called with the error that the module threw, before `read` throws: for the author of the module. */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * Pulls the items that a module yields for a day, on demand, and ends its generator when the reader stops.
 *
 * @throws SourceError, and what the module throws: `explainItems` hides its message
 */
export async function* readItems(
  day: BusinessDay,
  { path, log, options = {}, onFailure }: DayItemsOptions,
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
export function explainItems(
  error: unknown,
  { iso }: BusinessDay,
  { path, onFailure }: DayItemsOptions,
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

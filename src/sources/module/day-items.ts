import { setImmediate as nextTurn } from 'node:timers/promises';
import { pause } from '../../base/abort.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { SourceError } from '../../booking/source.js';
import { readDayBounds } from '../common/day-bounds.js';
import type { ModuleContext, ModuleDay } from './bookings-module.js';
import { createModuleError, loadBookings, nameError } from './load-module.js';

export interface DayItemsOptions extends Pick<ModuleContext, 'log'>, Partial<Pick<ModuleContext, 'options'>> {
  /** The file, absolute: `.js`, `.mjs`, `.cjs`, or `.ts`. */
  readonly path: string;
  /** Called with the error that the module threw, before `read` throws: for the author of the module. */
  readonly onFailure?: (error: unknown) => void;
}

/** The items that a module yields for a day. */
interface DayItems {
  /**
   * Pulls items from the module on demand, and ends its generator when the reader stops.
   *
   * @param options.take converts the records of an item. Reading a record can run the module's code too: if that throws,
   *   the module has failed.
   * @throws SourceError that quotes nothing of the module's own messages; the signal's reason when it aborts
   */
  read<Result>(
    day: BusinessDay,
    options: {
      readonly signal: AbortSignal;
      readonly take: (records: readonly unknown[]) => Iterable<Result>;
    },
  ): AsyncGenerator<Result, void, undefined>;
}

export function createDayItems({ path, options = {}, log, onFailure }: DayItemsOptions): DayItems {
  const explain = (error: unknown, day: BusinessDay) => {
    if (error instanceof StalledModuleError) {
      const reason =
        'bookings waits for something that can no longer happen: no timer, file or connection is left to wait for';
      return new SourceError('unreadable', `${path} failed while it read ${day.iso}: ${reason}`);
    }
    onFailure?.(error);
    const { words } = nameError(error);
    return createModuleError(`${path} failed while it read ${day.iso}: ${words}`, error);
  };

  return {
    async *read(day, { signal, take }) {
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
        for await (const item of pullItems(items, signal)) {
          for (const result of take(Array.isArray(item) ? item : [item])) yield result;
        }
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw error instanceof SourceError ? error : explain(error, day);
      } finally {
        signal.removeEventListener('abort', stays);
        stays();
      }
    },
  };
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
  let interrupt = (): void => {};
  const onAbort = () => {
    interrupt();
    void end();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const failures = watchUnhandledFailures(() => interrupt());
  /** Undefined if interrupted. A promise for each item: a shared one would retain them all. */
  const askNext = () =>
    new Promise<IteratorResult<unknown> | undefined>((resolve, reject) => {
      interrupt = () => resolve(undefined);
      const fail = (error: unknown) => {
        isOver = true;
        reject(error);
      };
      // It may throw at once.
      (async () => iterator.next())().then(resolve, fail);
    });
  try {
    for (;;) {
      failures.throwIfAny();
      const result = await askNext();
      if (result?.done === true) {
        isOver = true;
        // Unhandled rejections are reported only now.
        await nextTurn();
      }
      failures.throwIfAny();
      if (result === undefined || result.done === true) break;
      yield result.value;
      if (signal.aborted) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    failures.end();
    if (!isOver) {
      const patience = new AbortController();
      await Promise.race([end(), pause(patienceMs, patience.signal)]);
      patience.abort();
    }
  }
  signal.throwIfAborted();
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

/**
 * Watches, while a module reads a day, for what would end the process silently: an unhandled rejection (Node would print its
 * message, which may name a guest), and a promise that nothing can settle any more (Node would exit with success).
 *
 * @param onFailure called once `throwIfAny` has something to throw
 */
function watchUnhandledFailures(onFailure: () => void) {
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
    onFailure();
  };
  const onIdle = () => fail(new StalledModuleError());
  process.on('unhandledRejection', fail);
  process.on('beforeExit', onIdle);
  return {
    /** @throws what the module threw without anybody waiting for it; StalledModuleError */
    throwIfAny(): void {
      if (failure) throw failure.error;
    },
    end(): void {
      process.off('unhandledRejection', fail);
      process.off('beforeExit', onIdle);
    },
  };
}

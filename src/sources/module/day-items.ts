import type { BusinessDay } from '../../booking/business-day.js';
import { SourceError } from '../../review/source.js';
import { readDayBounds } from '../common/day-bounds.js';
import type { ModuleContext, ModuleDay } from './bookings-module.js';
import { createModuleError, nameError } from './errors.js';
import { loadBookings } from './load-module.js';
import { pullItems, StalledModuleError, watchForExit } from './pull.js';

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

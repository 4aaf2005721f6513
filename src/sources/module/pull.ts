import { setImmediate as nextTurn } from 'node:timers/promises';
import { pause } from '../../async/abort.js';
import { watchForsaken } from './forsaken.js';

/** How long a generator that was told to end may take for it. */
const patienceMs = 1_000;

/**
 * Asks a generator for one item after the other. When the signal aborts, the generator is told to end at once, and waited
 * for a second at most: one that listens to nothing is left alone with what it waits for.
 *
 * @throws what the generator throws, or what it started and nobody waits for; DeadEndError where it waits for what cannot
 *   come; the signal's reason when it aborts
 */
export async function* pullItems(
  items: AsyncIterable<unknown> | Iterable<unknown>,
  signal: AbortSignal,
): AsyncGenerator<unknown, void, undefined> {
  signal.throwIfAborted();
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let ending: Promise<unknown> | undefined;
  const end = () => {
    // What it has to say about that is nobody's business any more.
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
  const forsaken = watchForsaken(() => interrupt());
  /** Undefined where the waiting was interrupted. A promise for each: one for all would remember every item. */
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
      forsaken.throwIfAny();
      const result = await askNext();
      if (result?.done === true) {
        isOver = true;
        // What it left behind is told only now.
        await nextTurn();
      }
      forsaken.throwIfAny();
      if (result === undefined || result.done === true) break;
      yield result.value;
      if (signal.aborted) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    forsaken.end();
    if (!isOver) {
      const patience = new AbortController();
      await Promise.race([end(), pause(patienceMs, patience.signal)]);
      patience.abort();
    }
  }
  signal.throwIfAborted();
}

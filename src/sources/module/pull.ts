import { pause } from '../../review/pause.js';
import { untilAborted } from '../../review/until-aborted.js';

/** How long a generator that was told to end may take for it. */
const patienceMs = 1_000;

/**
 * Asks a generator for one item after the other. When the signal aborts, the generator is told to end at once, and waited
 * for a second at most: one that listens to nothing is left alone with what it waits for.
 *
 * @throws what the generator throws; the signal's reason when it aborts
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
  const over = new AbortController();
  const aborted = untilAborted(signal, over.signal);
  signal.addEventListener('abort', end, { once: true, signal: over.signal });
  let isOver = false;
  try {
    for (;;) {
      const next = Promise.resolve(iterator.next());
      const result = await Promise.race([next, aborted]);
      if (result === 'aborted') {
        next.catch(() => undefined);
        break;
      }
      if (result.done) {
        isOver = true;
        break;
      }
      yield result.value;
      if (signal.aborted) break;
    }
  } catch (error) {
    isOver = true;
    if (!signal.aborted) throw error;
  } finally {
    over.abort();
    if (!isOver) {
      const patience = new AbortController();
      await Promise.race([end(), pause(patienceMs, patience.signal)]);
      patience.abort();
    }
  }
  signal.throwIfAborted();
}

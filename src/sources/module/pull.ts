import { setImmediate as nextTurn } from 'node:timers/promises';
import { pause } from '../../async/abort.js';

/** How long a generator may take to return. */
const patienceMs = 1_000;

/**
 * Pulls one item after the other from a generator. When the signal aborts, the generator is told to return, and gets a second
 * for that. One that ignores the signal is abandoned.
 *
 * @throws what the generator throws, or an unhandled rejection of its work; StalledModuleError if it waits for something that
 *   can't happen; the signal's reason when it aborts
 */
export async function* pullItems(
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
export class StalledModuleError extends Error {
  override readonly name = 'StalledModuleError';
}

/**
 * Watches, while a module reads a day, for the end of the process: it must not look like success.
 *
 * @param tell reports it; it must write synchronously
 * @returns stops the watch
 */
export function watchForExit(tell: () => void): () => void {
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

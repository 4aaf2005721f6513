import { setImmediate as nextTurn } from 'node:timers/promises';
import { pause } from '../../async/abort.js';

/** How long a generator that was told to end may take for it. */
const patienceMs = 1_000;

/**
 * Asks a generator for one item after the other. When the signal aborts, the generator is told to end at once, and waited
 * for a second at most: one that listens to nothing is left alone with what it waits for.
 *
 * @throws what the generator throws, or what it started and nobody waits for; StalledModuleError where it waits for what cannot
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
  const failures = watchUnhandledFailures(() => interrupt());
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
      failures.throwIfAny();
      const result = await askNext();
      if (result?.done === true) {
        isOver = true;
        // What it left behind is told only now.
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

/** A generator is waited for, and there is nothing any more that could make it go on. */
export class StalledModuleError extends Error {
  override readonly name = 'StalledModuleError';
}

/**
 * Watches, while a module reads a day, for its ending the process: that must not look as if all were done.
 *
 * @param tell says so; it has to write at once
 * @returns what ends the watch
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

export interface FailureWatch {
  /** @throws what the module threw where nobody waits for it; StalledModuleError */
  throwIfAny(): void;
  end(): void;
}

/**
 * Watches, while a module reads a day, for what would end the process without a word of ours: a promise that is rejected and
 * that nobody waits for (Node would print its message, which may name a guest), and a promise that nothing can settle
 * any more (Node would leave as if all were done).
 *
 * @param onFailure called as soon as `throwIfAny` has something to throw
 */
export function watchUnhandledFailures(onFailure: () => void): FailureWatch {
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
    onFailure();
  };
  const onIdle = () => fail(new StalledModuleError());
  process.on('unhandledRejection', fail);
  process.on('beforeExit', onIdle);
  return {
    throwIfAny() {
      if (failure) throw failure.error;
    },
    end() {
      process.off('unhandledRejection', fail);
      process.off('beforeExit', onIdle);
    },
  };
}

/** A generator is waited for, and there is nothing any more that could make it go on. */
export class DeadEndError extends Error {
  override readonly name = 'DeadEndError';
}

/**
 * Watches, while a module reads a day, for its ending the process: that must not look as if all were done.
 *
 * @param tell says so; it has to write at once
 * @returns what ends the watch
 */
export function watchLeaving(tell: () => void): () => void {
  const onExit = (code: number) => {
    if (code !== 0) return;
    process.exitCode = 1;
    tell();
  };
  process.on('exit', onExit);
  return () => void process.off('exit', onExit);
}

export interface ForsakenWatch {
  /** @throws what the module threw where nobody waits for it; DeadEndError */
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
export function watchForsaken(onFailure: () => void): ForsakenWatch {
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
    onFailure();
  };
  const onIdle = () => fail(new DeadEndError());
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

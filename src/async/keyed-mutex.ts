/** Runs tasks with the same key one after the other, and those with different keys concurrently. */
export interface KeyedMutex {
  run<Result>(key: string, task: () => Promise<Result>): Promise<Result>;
}

export function createKeyedMutex(): KeyedMutex {
  /** For each key the end of the last task; it never rejects. */
  const last = new Map<string, Promise<void>>();
  return {
    async run(key, task) {
      const before = last.get(key);
      const { promise: ended, resolve: end } = createGate();
      last.set(key, ended);
      try {
        await before;
        return await task();
      } finally {
        if (last.get(key) === ended) last.delete(key);
        end();
      }
    },
  };
}

function createGate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((open) => {
    resolve = open;
  });
  return { promise, resolve };
}

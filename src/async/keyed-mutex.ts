/** Lets tasks of the same key run one after the other, and those of different keys at once. */
export interface Turns {
  take<Result>(key: string, task: () => Promise<Result>): Promise<Result>;
}

export function createTurns(): Turns {
  /** For each key the last one in the line; it never rejects. */
  const last = new Map<string, Promise<void>>();
  return {
    async take(key, task) {
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

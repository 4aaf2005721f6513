export interface AbortWatch {
  /** Calls `stop` once when the signal aborts, unless the returned function was called before. */
  watch(signal: AbortSignal, stop: () => void): () => void;
}

/**
 * Lets any number of calls wait on one long-lived signal with a single listener on it: Node warns of a leak from the
 * eleventh on. The listener goes when nobody waits any more.
 */
export function createAbortWatch(): AbortWatch {
  const watches = new WeakMap<
    AbortSignal,
    { readonly stops: Set<() => void>; readonly listener: () => void }
  >();

  const begin = (signal: AbortSignal) => {
    const stops = new Set<() => void>();
    const listener = () => {
      for (const stop of [...stops]) stop();
    };
    signal.addEventListener('abort', listener, { once: true });
    const begun = { stops, listener };
    watches.set(signal, begun);
    return begun;
  };

  return {
    watch(signal, stop) {
      const { stops, listener } = watches.get(signal) ?? begin(signal);
      stops.add(stop);
      return () => {
        if (!stops.delete(stop) || stops.size > 0) return;
        signal.removeEventListener('abort', listener);
        watches.delete(signal);
      };
    },
  };
}

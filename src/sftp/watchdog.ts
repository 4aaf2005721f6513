export interface Watchdog {
  progressed(): void;
  stop(): void;
}

/** Calls `onStalled` once when `deadlineMs` pass without progress. */
export function createWatchdog(deadlineMs: number, onStalled: () => void): Watchdog {
  let stopped = false;
  let progress = 0;

  const timer = setTimeout(() => {
    const before = progress;
    // When this very process was frozen or busy, answers lie waiting: they are read before the verdict.
    setImmediate(() => {
      if (stopped) return;
      if (progress > before) timer.refresh();
      else onStalled();
    });
  }, deadlineMs);

  return {
    progressed() {
      progress += 1;
      if (!stopped) timer.refresh();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

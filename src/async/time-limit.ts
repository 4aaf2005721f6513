/** A signal that also aborts when the time is up. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Whether the time limit aborted it. */
  isOver(): boolean;
  /** Call this at the end, whatever the outcome. */
  stop(): void;
}

/** @param createReason creates the signal's reason when the time is up */
export function startTimeLimit(
  signal: AbortSignal,
  milliseconds: number,
  createReason?: () => unknown,
): TimeLimit {
  const stopping = new AbortController();
  let isOver = false;
  const abort = () => {
    clearTimeout(timer);
    stopping.abort(signal.reason);
  };
  const timer = setTimeout(() => {
    isOver = true;
    stopping.abort(createReason?.());
  }, milliseconds);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  return {
    signal: stopping.signal,
    isOver: () => isOver,
    stop() {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    },
  };
}

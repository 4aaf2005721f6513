/**
 * Waits for that time, or until the signal aborts. Never rejects.
 *
 * @param holdsProcess false for background work, which alone must not keep the process alive
 */
export function pause(
  milliseconds: number,
  signal: AbortSignal,
  { holdsProcess = true }: { readonly holdsProcess?: boolean } = {},
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    if (!holdsProcess) timer.unref();
    signal.addEventListener('abort', end, { once: true });
  });
}

/** @param over removes the listener when it aborts, for a `signal` that lives as long as the process */
export function untilAborted(signal: AbortSignal, over?: AbortSignal): Promise<'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve('aborted'), { once: true, ...(over && { signal: over }) }),
  );
}

/** Waits for the work or the abort. Leaves no listener on the signal, which may live as long as the process. */
export async function orAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
): Promise<Result | 'aborted'> {
  const over = new AbortController();
  try {
    return await Promise.race([work, untilAborted(signal, over.signal)]);
  } finally {
    over.abort();
  }
}

/**
 * A signal that also aborts when the time is up.
 *
 * @param createReason creates the signal's reason then
 */
export function startTimeLimit(signal: AbortSignal, milliseconds: number, createReason?: () => unknown) {
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
    /** Whether the time limit aborted it. */
    isOver: () => isOver,
    /** Call this at the end, whatever the outcome. */
    stop(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    },
  };
}

/** There was no answer in time. The work may still complete. */
export class TooLateError extends Error {
  override readonly name = 'TooLateError';
  constructor(readonly milliseconds: number) {
    super(`no answer within ${milliseconds / 1000} s`);
  }
}

/** Waits for an answer, but no longer than that. @throws TooLateError */
export async function answerWithin<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLateError(milliseconds)), milliseconds);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An exclusive right that lasts until its holder releases it or dies. */
export interface Hold {
  /**
   * Aborts when the right is lost, or may be lost: another process may have it. A lock held by the kernel is never lost.
   */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

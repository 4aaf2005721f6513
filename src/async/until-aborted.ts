/** @param over takes the listener off again, where the signal lives as long as the process */
export function untilAborted(signal: AbortSignal, over?: AbortSignal): Promise<'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve('aborted'), { once: true, ...(over && { signal: over }) }),
  );
}

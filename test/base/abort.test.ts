import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pause } from '../../src/base/abort.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a pause', () => {
  it('lasts as long as requested', async () => {
    const { signal } = new AbortController();
    const ended = vi.fn();
    void pause(500, signal).then(ended);
    await vi.advanceTimersByTimeAsync(499);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalled();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends at once on abort, and leaves no timer', async () => {
    const stop = new AbortController();
    const paused = pause(500, stop.signal);
    stop.abort();
    await paused;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not start when the signal has already aborted', async () => {
    await pause(500, AbortSignal.abort());
    expect(vi.getTimerCount()).toBe(0);
  });
});

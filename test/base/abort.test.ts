import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { answerWithin, orAborted, pause, startTimeLimit } from '../../src/base/abort.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => {});

/** What begins to wait, and how it says afterwards why it ended. */
const waits: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
  pause: (signal) => pause(500, signal),
  orAborted: (signal) => orAborted(pause(500, new AbortController().signal), signal),
  async startTimeLimit(signal) {
    const limit = startTimeLimit(signal, 500, () => 'late');
    await orAborted(never(), limit.signal);
    limit.stop();
    return [limit.signal.reason, limit.isOver()];
  },
};

it.each([
  ['pause', undefined, undefined, undefined],
  ['orAborted', undefined, 'aborted', 'aborted'],
  ['startTimeLimit', ['late', true], ['stopped', false], ['stopped', false]],
])(
  '%s lasts as long as asked or until the abort, and leaves no listener',
  async (name, over, cut, before) => {
    const begin = async (signal: AbortSignal) => {
      const ended = vi.fn();
      void waits[name]?.(signal).then(ended);
      await vi.advanceTimersByTimeAsync(499);
      return ended;
    };
    const stop = new AbortController();
    const first = await begin(stop.signal);
    expect(first).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(first.mock.calls).toEqual([[over]]);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);

    const second = await begin(stop.signal);
    stop.abort('stopped');
    await vi.advanceTimersByTimeAsync(0);
    expect(second.mock.calls).toEqual([[cut]]);
    expect((await begin(stop.signal)).mock.calls).toEqual([[before]]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([vi.getTimerCount(), getEventListeners(stop.signal, 'abort')]).toEqual([0, []]);
  },
);

it('an answer in time leaves no timer, and a late one is an error', async () => {
  expect([await answerWithin(500, Promise.resolve('yes')), vi.getTimerCount()]).toEqual(['yes', 0]);
  const late = expect(answerWithin(500, never())).rejects.toThrow('no answer within 0.5 s');
  await vi.advanceTimersByTimeAsync(500);
  await late;
});

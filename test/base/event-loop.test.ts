import { afterEach, describe, expect, it, vi } from 'vitest';
import { forEachYielding } from '../../src/base/event-loop.js';

const items = Array.from({ length: 1_000 }, (_, index) => index);

describe('work on each item of a long list', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  let now = performance.now();

  /** Each reading of the clock is later than the previous one, by as much as a turn may last. */
  function slowDown(): void {
    vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 10;
      return now;
    });
  }

  it('lets others work in between', async () => {
    slowDown();
    const done: (number | string)[] = [];
    setImmediate(() => done.push('other'));
    await forEachYielding(items, undefined, (item) => done.push(item));
    expect(done.filter((one) => one !== 'other')).toEqual(items);
    expect(done.indexOf('other')).toBeLessThan(done.length - 1);
  });

  it('stops when the signal has aborted', async () => {
    slowDown();
    const stopping = new AbortController();
    let done = 0;
    setImmediate(() => stopping.abort(new Error('stopped')));
    const work = forEachYielding(items, stopping.signal, () => {
      done += 1;
    });
    await expect(work).rejects.toThrow('stopped');
    expect(done).toBeLessThan(items.length);
  });
});

import { describe, expect, it } from 'vitest';
import { waitForPlace } from '../../src/review/day/places.js';
import { openTemporaryLedger } from './temporary-ledger.js';

describe('a place for a run', () => {
  it('is one of so many, and free again for whoever waits', async () => {
    const ledger = await openTemporaryLedger();
    const { signal } = new AbortController();
    let waits = 0;
    const onWait = () => {
      waits += 1;
    };
    const first = await waitForPlace(ledger, 2, { signal, onWait });
    const second = await waitForPlace(ledger, 2, { signal, onWait });
    expect([first, second].every((hold) => hold)).toBe(true);
    expect(waits).toBe(0);
    const waiting = waitForPlace(ledger, 2, { signal, onWait });
    await expect.poll(() => waits).toBe(1);
    await first?.release();
    expect(await waiting).toBeDefined();
    expect(waits).toBe(1);
    expect(await ledger.holdPlace(2)).toBeUndefined();
  });

  it('is waited for until a stop is asked for', async () => {
    const ledger = await openTemporaryLedger();
    await ledger.holdPlace(1);
    const stop = new AbortController();
    const waiting = waitForPlace(ledger, 1, { signal: stop.signal, onWait: () => stop.abort() });
    expect(await waiting).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { runDaysConcurrently, waitForRunPermit } from '../../../src/review/day/run-permits.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

describe('a permit for a run', () => {
  it('is one of a limited number, and passes to the next waiting run when released', async () => {
    const ledger = await openTemporaryLedger();
    const { signal } = new AbortController();
    let waits = 0;
    const onWait = () => {
      waits += 1;
    };
    const first = await waitForRunPermit(ledger, 2, { signal, onWait });
    const second = await waitForRunPermit(ledger, 2, { signal, onWait });
    expect([first, second].every((hold) => hold)).toBe(true);
    expect(waits).toBe(0);
    const waiting = waitForRunPermit(ledger, 2, { signal, onWait });
    await expect.poll(() => waits).toBe(1);
    await first?.release();
    expect(await waiting).toBeDefined();
    expect(waits).toBe(1);
    expect(await ledger.holds.permit(2)).toBeUndefined();
  });
});

const days = ['01', '02', '03', '04', '05'].map((date) => createBusinessDay(`2026-11-${date}`, 'UTC'));
const isoOf = (list: readonly { iso: string }[]) => list.map(({ iso }) => iso.slice(-2));

/** Days that are in progress until they are told to end. */
function prepare(atOnce: number) {
  const begun: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const gate = { mayBegin: true, refused: '' };
  const result = runDaysConcurrently(days, {
    atOnce,
    mayBegin: () => gate.mayBegin,
    async begin({ iso }) {
      const date = iso.slice(-2);
      if (date === gate.refused) return undefined;
      begun.push(date);
      return { ended: new Promise<void>((resolve, reject) => ends.set(date, { resolve, reject })) };
    },
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    begun,
    gate,
    result,
    settled,
    async end(date: string, error?: Error) {
      if (error) ends.get(date)?.reject(error);
      else ends.get(date)?.resolve();
      await settled();
    },
  };
}

describe('days', () => {
  it('are started in order, a limited number at once, the next one when any ends', async () => {
    const { begun, end, result, settled } = prepare(2);
    await settled();
    expect(begun).toEqual(['01', '02']);
    await end('02');
    expect(begun).toEqual(['01', '02', '03']);
    await end('03');
    await end('01');
    expect(begun).toEqual(['01', '02', '03', '04', '05']);
    await end('05');
    await end('04');
    expect(await result).toEqual([]);
  });

  it('that may no longer be started are returned', async () => {
    const { end, gate, result, settled } = prepare(2);
    await settled();
    gate.mayBegin = false;
    await end('01');
    await end('02');
    expect(isoOf(await result)).toEqual(['03', '04', '05']);
  });

  it('are not started after one that got no permit', async () => {
    const { end, gate, result, settled } = prepare(1);
    gate.refused = '02';
    await settled();
    await end('01');
    expect(isoOf(await result)).toEqual(['02', '03', '04', '05']);
  });

  it('reject, if one of them fails, once the others have ended', async () => {
    const { end, result, settled } = prepare(2);
    const fault = new Error('broken');
    const caught = result.catch((error: unknown) => error);
    await settled();
    await end('01', fault);
    await end('02');
    expect(await caught).toBe(fault);
  });
});

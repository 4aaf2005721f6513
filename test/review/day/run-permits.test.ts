import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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

const days = [0, 1, 2, 3, 4, 5];

it('days are started in order, a limited number at once, until one may not be: the rest is returned, or the first fault', async () => {
  const anyDay = fc.option(fc.constantFrom(...days), { nil: days.length });
  const choices = fc.record({
    atOnce: fc.integer({ min: 1, max: 3 }),
    without: anyDay,
    notFrom: anyDay,
    failing: anyDay,
    ends: fc.array(fc.nat(2), { minLength: days.length, maxLength: days.length }),
  });
  await fc.assert(
    fc.asyncProperty(choices, async ({ atOnce, without, notFrom, failing, ends }) => {
      const begun: number[] = [];
      const open: { readonly day: number; resolve(): void; reject(error: Error): void }[] = [];
      let last = Math.min(without, notFrom);
      const result = runDaysConcurrently(days, {
        atOnce,
        mayBegin: () => begun.length < notFrom,
        async begin(day) {
          if (day === without) return undefined;
          begun.push(day);
          return { ended: new Promise((resolve, reject) => open.push({ day, resolve, reject })) };
        },
      }).catch(String);
      for (const [ended, place] of ends.entries()) {
        await new Promise(setImmediate);
        expect(open).toHaveLength(Math.max(0, Math.min(atOnce, last - ended)));
        const [one] = open.splice(place % Math.max(1, open.length), 1);
        if (one?.day !== failing) one?.resolve();
        else {
          one.reject(new Error('broken'));
          last = begun.length;
        }
      }
      expect(await result).toEqual(begun.includes(failing) ? 'Error: broken' : days.slice(last));
      expect(begun).toEqual(days.slice(0, last));
    }),
  );
});

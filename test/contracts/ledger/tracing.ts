import { describe, expect, it } from 'vitest';
import type { OpenedLedger } from '../ledger.js';
import { at, batchOf, chunkOf, collectedRun, newRun, startCollect } from './days.js';

export function describeTracing(opened: () => OpenedLedger): void {
  describe('tracing a booking', () => {
    it('finds nothing for an unknown reference, or for a part of a known one', async () => {
      const { ledger } = opened();
      await collectedRun(ledger, 'r1', { bookings: ['BR-10', undefined, 'BR-11'] });
      for (const reference of ['BR-1', 'R-10', 'br-10', 'BR-10 ', '', '%', 'undefined']) {
        expect(await ledger.bookings.trace(reference)).toEqual([]);
      }
    });

    it('searches all runs and days, newest run first', async () => {
      const { ledger } = opened();
      await collectedRun(ledger, 'r1', { bookings: ['BR-1'] });
      await collectedRun(ledger, 'r2', { day: '2026-11-19', bookings: ['other'] });
      const r3 = await ledger.runs.create(newRun('r3', { replaces: 'r1' }));
      const collect = await startCollect(ledger, r3);
      await collect.store(
        chunkOf({
          batches: [batchOf(0, ['BR-1'])],
          rejects: [{ place: 2, reason: 'wrong-cell-count', reference: 'BR-1' }],
        }),
      );
      await collect.finish({ steps: [], at });
      const traces = await ledger.bookings.trace('BR-1');
      expect(traces.map(({ run, kind }) => `${run.id} ${kind}`)).toEqual([
        'r3 booking',
        'r3 reject',
        'r1 booking',
      ]);
      expect(traces.map(({ run }) => run.state)).toEqual(['delivering', 'delivering', 'cancelled']);
    });

    it('reads years of runs in slices, each run once', async () => {
      const { ledger } = opened();
      await collectedRun(ledger, 'r1', { bookings: ['BR-1'] });
      let replaces = 'r1';
      for (let number = 2; number <= 101; number += 1) {
        const run = await ledger.runs.create(newRun(`r${number}`, { replaces }));
        await startCollect(ledger, run);
        replaces = run.id;
      }
      const traced: string[] = [];
      for await (const traces of ledger.bookings.readTraces('BR-1'))
        traced.push(...traces.map(({ run }) => run.id));
      expect(traced).toEqual(['r1']);
      expect(await ledger.bookings.trace('BR-1')).toHaveLength(1);
    });
  });
}

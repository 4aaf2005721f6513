import { describe, expect, it } from 'vitest';
import { blankNames } from '../../../src/booking/stored-line.js';
import { extraAt } from '../../../src/ledger/batches.js';
import type { CollectedBatch } from '../../../src/ledger/collecting.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { OpenedLedger } from '../ledger.js';
import { at, batchOf, chunkOf, collectedRun, newRun, rightOf, startCollect } from './days.js';

const labels = ['Price', 'Refundable'];

function keeping(
  batch: CollectedBatch,
  ...rows: NonNullable<CollectedBatch['extraColumns']>['rows']
): CollectedBatch {
  return { ...batch, extraColumns: { labels, rows } };
}

async function storedRun(ledger: Ledger, id = 'r1', price = '120.50', day = '2026-11-20') {
  const run = await ledger.runs.create(newRun(id, { delivery: 'file', day }));
  const collect = await startCollect(ledger, run);
  await collect.store(
    chunkOf({
      batches: [
        keeping(batchOf(0, ['a', 'b', 'a', 'd']), [price, 'yes'], null, ['7', null], ['8', 'canary-price']),
        batchOf(1, ['e']),
        keeping(batchOf(0, ['f'], 'file'), ['9', null]),
      ],
    }),
  );
  await collect.finish({ steps: [], at });
  return run;
}

export function describeExtraColumns(opened: () => OpenedLedger): void {
  describe('extra columns', () => {
    it('are read by batch and place, by reference, and in a trace', async () => {
      const { ledger, reopen } = opened();
      await storedRun(ledger);
      await collectedRun(ledger, 'other', { day: '2026-11-19', bookings: ['a'] });
      const reader = await reopen();
      const columns = await reader.bookings.readExtra('r1', 'posted', 0);
      expect([0, 1, 2, 9].map((place) => extraAt(columns, place))).toEqual([
        { Price: '120.50', Refundable: 'yes' },
        undefined,
        { Price: '7' },
        undefined,
      ]);
      expect(await reader.bookings.readExtra('r1', 'posted', 1)).toBeUndefined();
      expect(extraAt(await reader.bookings.readExtra('r1', 'file', 0), 0)).toEqual({ Price: '9' });
      const values = new Map([
        ['a', { Price: '120.50', Refundable: 'yes' }],
        ['f', { Price: '9' }],
      ]);
      // The newest run of the booking keeps nothing.
      expect(await reader.bookings.findExtra(['a', 'b', 'f', 'nobody'])).toEqual(values);
      expect(await reader.bookings.findExtra(['b', 'nobody'])).toEqual(new Map());
      expect(await reader.bookings.findExtra([])).toEqual(new Map());
      const [trace] = await reader.bookings.trace('d');
      expect(trace).toMatchObject({ extraValues: { Price: '8', Refundable: 'canary-price' } });
      const [other] = await reader.bookings.trace('e');
      expect(other).not.toHaveProperty('extraValues');
    });

    it('are those of the newest run that has them', async () => {
      const { ledger } = opened();
      await storedRun(ledger);
      await storedRun(ledger, 'r2', '130', '2026-11-21');
      expect((await ledger.bookings.findExtra(['a'])).get('a')).toEqual({ Price: '130', Refundable: 'yes' });
    });

    it('of one guest are erased with the name, even where no name is left to erase', async () => {
      const { ledger } = opened();
      const run = await storedRun(ledger);
      await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
      await ledger.guests.eraseBookings('r1', (lines) =>
        lines.includes(',hotelbeds,') ? undefined : { rows: [0, 3] },
      );
      const columns = await ledger.bookings.readExtra('r1', 'posted', 0);
      expect([0, 2, 3].map((place) => extraAt(columns, place))).toEqual([
        undefined,
        { Price: '7' },
        undefined,
      ]);
      expect(extraAt(await ledger.bookings.readExtra('r1', 'file', 0), 0)).toEqual({ Price: '9' });
    });

    it('are gone once the names are blanked', async () => {
      const { ledger } = opened();
      const run = await storedRun(ledger);
      await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
      await ledger.guests.blankNames('2026-12-01', blankNames);
      expect(await ledger.bookings.readExtra('r1', 'posted', 0)).toBeUndefined();
      expect(await ledger.bookings.findExtra(['a', 'f'])).toEqual(new Map());
      const [trace] = await ledger.bookings.trace('a');
      expect(trace).not.toHaveProperty('extraValues');
      await ledger.guests.prune('2026-12-01');
      expect(await ledger.bookings.readExtra('r1', 'posted', 0)).toBeUndefined();
    });
  });
}

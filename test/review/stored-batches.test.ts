import { describe, expect, it } from 'vitest';
import { readStoredBatches } from '../../src/ledger/batches.js';
import { batchSize, collectedRun, references } from '../contracts/ledger/days.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { openTemporaryLedger } from './temporary-ledger.js';

describe('the stored batches of a run', () => {
  it('come in their order, from few queries, of which the first is small, one at a time if they are large', async () => {
    const read = async (bookings: number, batches: number) => {
      const asked: { readonly from: number; readonly to: number }[] = [];
      const lineOf = (batch: number) => Buffer.from(`${batch}\n`);
      const ledger = fakeLedger({
        bookings: {
          measureBatches: async () => ({ batches, bookings }),
          async readBatches(_run, _form, range) {
            asked.push(range);
            return Array.from({ length: range.to - range.from }, (_, at) => lineOf(range.from + at));
          },
          readBatch: async (_run, _form, batch) => lineOf(batch),
        },
      });
      const found: string[] = [];
      for await (const { batch, lines } of readStoredBatches(ledger, { id: 'r1' }, 'posted'))
        found.push(`${batch}: ${lines}`);
      expect(found).toEqual(Array.from({ length: batches }, (_, batch) => `${batch}: ${batch}\n`));
      return asked.map(({ from, to }) => [from, to]);
    };
    expect(await read(4_010, 1_003)).toEqual([
      [0, 1],
      [1, 501],
      [501, 1_001],
      [1_001, 1_003],
    ]);
    expect(await read(20_500, 3)).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
  });

  it('end with an error if the remaining ones are removed meanwhile', async () => {
    const ledger = await openTemporaryLedger();
    const run = await collectedRun(ledger, 'r1', { bookings: references(3 * batchSize) });
    const read = readStoredBatches(ledger, run, 'posted');
    expect((await read.next()).value).toMatchObject({ batch: 0 });
    await ledger.runs.abandon('r1', { reason: 'old', at: 1 });
    expect(await ledger.guests.prune('2030-01-01')).toBe(1);
    await expect(read.next()).rejects.toThrow('no posted batch 1 in the ledger');
  });
});

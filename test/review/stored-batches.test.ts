import { describe, expect, it } from 'vitest';
import { type BatchRange, readStoredBatches } from '../../src/ledger/batches.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { batchSize, collectedRun, references } from '../contracts/ledger/days.js';
import { fakeLedger, withReplaced } from '../support/fake-ledger.js';
import { openTemporaryLedger } from './temporary-ledger.js';

describe('the stored batches of a run', () => {
  it('come in their order, from few queries, of which the first is small', async () => {
    const ledger = await openTemporaryLedger();
    const run = await collectedRun(ledger, 'r1', { bookings: references(4_010) });
    const { asked, batches } = await readAll(ledger, run.id);
    expect(asked).toEqual([
      { from: 0, to: 1 },
      { from: 1, to: 501 },
      { from: 501, to: 1_001 },
      { from: 1_001, to: 1_003 },
    ]);
    expect(batches.map(({ batch }) => batch)).toEqual([...Array(1_003).keys()]);
    for (const { batch, lines } of batches.slice(-3))
      expect(lines).toEqual(await ledger.bookings.readBatch('r1', 'posted', batch));
  });

  it('come one at a time if they are large', async () => {
    const lines = Buffer.from('{}\n');
    const asked: BatchRange[] = [];
    const ledger = fakeLedger({
      bookings: {
        measureBatches: async () => ({ batches: 3, bookings: 20_500 }),
        readBatches: async (_run, _form, range) => {
          asked.push(range);
          return [lines];
        },
        readBatch: async () => lines,
      },
    });
    for await (const _ of readStoredBatches(ledger, { id: 'r1' }, 'posted'));
    expect(asked).toEqual([0, 1, 2].map((from) => ({ from, to: from + 1 })));
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

async function readAll(ledger: Ledger, runId: string) {
  const asked: BatchRange[] = [];
  const watched = withReplaced(ledger, {
    bookings: {
      readBatches(id, stream, range) {
        asked.push(range);
        return ledger.bookings.readBatches(id, stream, range);
      },
    },
  });
  const batches = [];
  for await (const batch of readStoredBatches(watched, { id: runId }, 'posted')) batches.push(batch);
  return { asked, batches };
}

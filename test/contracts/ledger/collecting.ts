import { describe, expect, it } from 'vitest';
import { hashReference, noReference } from '../../../src/booking/booking.js';
import type { BatchStream } from '../../../src/booking/sending.js';
import { FencedError } from '../../../src/ledger/errors.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import type { OpenedLedger } from '../ledger.js';
import { at, batchOf, chunkOf, done, look, newRun, perform, rightOf, startCollect, toLines } from './days.js';

export function describeCollecting(opened: () => OpenedLedger): void {
  describe('collecting', () => {
    it('stores each batch byte for byte, by stream', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      const collect = await startCollect(ledger, run);
      const bytes = { body: toLines(['é 😀 "\\\\"', '', '  x']), file: Buffer.from('7,"NUL, no"\n8,""\n') };
      await collect.store(
        chunkOf({
          batches: [
            {
              stream: 'posted',
              number: 0,
              lines: bytes.body,
              referenceHashes: [noReference, noReference, hashReference('x')],
            },
            { stream: 'file', number: 0, lines: bytes.file, referenceHashes: ['a', 'b'].map(hashReference) },
          ],
        }),
      );
      expect(await ledger.bookings.readBatch('r1', 'posted', 0)).toEqual(bytes.body);
      expect(await ledger.bookings.readBatch('r1', 'file', 0)).toEqual(bytes.file);
      await expect(ledger.bookings.readBatch('r1', 'file', 1)).rejects.toThrow(RangeError);
      expect((await ledger.runs.get('r1')).counts).toMatchObject({ read: 5, accepted: 5, pending: 5 });
    });

    it('lists rejects by place, with the field and the value that made them unfit', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      const collect = await startCollect(ledger, run);
      const invalid = { reason: 'service-id-invalid', field: 'ServiceId', value: '12x' } as const;
      await collect.store(
        chunkOf({
          rejects: [
            { place: 9, ...invalid, reference: 'BR-9' },
            { place: 10, reason: 'wrong-cell-count' },
          ],
        }),
      );
      await collect.store(chunkOf({ rejects: [{ place: 2, ...invalid }] }));
      expect(await ledger.rejects.list('r1', 2)).toEqual([
        { place: 2, ...invalid },
        { place: 9, ...invalid, reference: 'BR-9' },
      ]);
      expect(await ledger.rejects.list('r1', 10)).toHaveLength(3);
      const others = await ledger.rejects.list('r1', 10, { reason: 'service-id-invalid', skip: 1 });
      expect(others).toEqual([{ place: 9, ...invalid, reference: 'BR-9' }]);
      expect(await ledger.rejects.list('r1', 1, { reason: 'wrong-cell-count' })).toMatchObject([
        { place: 10 },
      ]);
      expect(await ledger.rejects.list('r1', 10, { reason: "'--" })).toEqual([]);
      expect(await ledger.rejects.count('r1')).toEqual([
        { reason: 'service-id-invalid', count: 2, firstPlace: 2 },
        { reason: 'wrong-cell-count', count: 1, firstPlace: 10 },
      ]);
      await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
      // A broken record may hold a guest's name anywhere.
      await ledger.guests.blankNames('2027-01-01', (lines) => lines);
      expect(await ledger.rejects.list('r1', 1)).toEqual([
        { place: 2, reason: 'service-id-invalid', field: 'ServiceId' },
      ]);
    });

    it('stores a chunk completely or not at all', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      const collect = await startCollect(ledger, run);
      await collect.store(chunkOf({ batches: [batchOf(0, ['a'])] }));
      const before = await look(ledger, 'r1');
      await expect(
        collect.store(
          chunkOf({
            batches: [batchOf(1, ['b']), batchOf(0, ['again'])],
            rejects: [{ place: 3, reason: 'service-id-missing' }],
          }),
        ),
      ).rejects.toThrow();
      expect(await look(ledger, 'r1')).toEqual(before);
      await expect(ledger.bookings.readBatch('r1', 'posted', 1)).rejects.toThrow(RangeError);
    });

    it('starts from nothing: counts, batches, rejects, warnings and reference index of an interrupted collect are removed', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      const cutOff = await startCollect(ledger, run);
      await cutOff.store(
        chunkOf({
          batches: [batchOf(0, ['old-1', 'old-2', 'old-3', 'old-4']), batchOf(1, ['old-5'])],
          duplicates: 3,
          rejects: [{ place: 9, reason: 'service-id-invalid', reference: 'old-9' }],
          warnings: [{ reason: 'absent-column', count: 1 }],
        }),
      );
      const again = await ledger.runs.takeOver('r1');
      const collect = await ledger.bookings.beginCollect(rightOf(again), {
        source: 'new.csv',
        at: at + 3,
        batchSize: 4,
      });
      expect(await look(ledger, 'r1')).toEqual({
        run: { ...again, source: 'new.csv', collectStartedAt: at + 3, counts: run.counts },
        tally: {
          stored: 0,
          delivered: 0,
          refused: 0,
          pending: 0,
          openSteps: 0,
          failedSteps: 0,
          retryableSteps: 0,
        },
        open: [],
        rejects: [],
        warnings: [],
      });
      await expect(ledger.bookings.readBatch('r1', 'posted', 0)).rejects.toThrow(RangeError);
      await collect.store(chunkOf({ batches: [batchOf(0, ['new-1'])] }));
      await collect.finish({ steps: planBatches(1, 4), at });
      for (const reference of ['old-1', 'old-5', 'old-9']) {
        expect(await ledger.bookings.trace(reference)).toEqual([]);
      }
      expect(await ledger.bookings.trace('new-1')).toHaveLength(1);
      expect((await ledger.runs.get('r1')).counts).toMatchObject({ read: 1, accepted: 1, rejected: 0 });
    });

    it('recognises a stored line exactly', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      const collect = await startCollect(ledger, run, 5);
      const lines = ['7,"a.*b",100%', '7,"ab"', 'x_y', 'last (one', 'é😀'];
      await collect.store(
        chunkOf({
          batches: [
            {
              stream: 'posted',
              number: 0,
              lines: toLines(lines),
              referenceHashes: lines.map(() => noReference),
            },
            { stream: 'posted', number: 1, lines: toLines(['elsewhere']), referenceHashes: [noReference] },
            { stream: 'file', number: 0, lines: toLines(['in the file']), referenceHashes: [noReference] },
          ],
        }),
      );
      const holds = (stream: BatchStream, batch: number, line: string) =>
        collect.holds(stream, batch, Buffer.from(line));
      for (const line of lines) expect(await holds('posted', 0, line)).toBe(true);
      const strangers = [
        '7,"a.*b",100',
        ',"a.*b",100%',
        '7,"aXXb",100%',
        '%',
        '.*',
        'xzy',
        'X_Y',
        '7,"ab" ',
        'last (on',
        'ast (one',
        '',
        'elsewhere',
        'in the file',
        'e\u0301😀',
      ];
      for (const line of strangers) expect(await holds('posted', 0, line), line).toBe(false);
      expect(await holds('posted', 1, 'elsewhere')).toBe(true);
      expect(await holds('file', 0, 'in the file')).toBe(true);
    });

    it('refuses every write under an old token, and writes nothing', async () => {
      const { ledger, reopen } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      const frozen = await startCollect(ledger, run);
      const other = await reopen();
      const owner = await other.runs.takeOver('r1');
      const collect = await startCollect(other, owner);
      await collect.store(chunkOf({ batches: [batchOf(0, ['a', 'b'])] }));
      const before = await look(other, 'r1');

      await expect(startCollect(ledger, run)).rejects.toThrow(FencedError);
      await expect(
        frozen.store(
          chunkOf({ batches: [batchOf(1, ['stale'])], rejects: [{ place: 1, reason: 'wrong-cell-count' }] }),
        ),
      ).rejects.toThrow(FencedError);
      await expect(frozen.holds('posted', 1, Buffer.from('a line'))).rejects.toThrow(FencedError);
      await expect(frozen.finish({ steps: planBatches(1, 4), at })).rejects.toThrow(FencedError);
      await expect(ledger.runs.settle(rightOf(run), { state: 'failed', at })).rejects.toThrow(FencedError);
      expect(await look(other, 'r1')).toEqual(before);
      await expect(other.bookings.readBatch('r1', 'posted', 1)).rejects.toThrow(RangeError);

      await collect.finish({ steps: planBatches(2, 4), at });
      expect(await ledger.steps.claim(rightOf(run), 'batch 0', 1, at)).toBeUndefined();
      await perform(other, owner, 'batch 0', done);
      await expect(startCollect(other, owner)).rejects.toThrow('has been collected already');
    });
  });
}

import { describe, expect, it } from 'vitest';
import type { BatchStream } from '../../../src/booking/sending.js';
import type { CollectedBatch } from '../../../src/ledger/collecting.js';
import { FencedError } from '../../../src/ledger/errors.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { Suspect, SuspectLines } from '../../../src/ledger/suspects.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import type { Run } from '../../../src/rules/run.js';
import type { OpenedLedger } from '../ledger.js';
import { at, batchOf, batchSize, chunkOf, fileLineOf, lineOf, newRun, rightOf } from './days.js';

const elsewhere: Suspect = {
  row: 0,
  reason: 'other-master',
  serviceId: 9_007_199_254_740_991,
  movedAt: at - 5,
};
const deleted: Suspect = { row: 2, reason: 'moved', movedAt: at - 1 };
const moved: Suspect = { row: 3, reason: 'moved', serviceId: 7, movedAt: at - 1 };

export function describeSuspects(opened: () => OpenedLedger): void {
  describe('suspects', () => {
    it('are listed batch by batch, with their lines, for that run only', async () => {
      const { ledger } = opened();
      const names = (prefix: string) => ['a', 'b', 'c', 'd'].map((name) => `${prefix}${name}`);
      const found: Record<number, Suspect[]> = { 0: [elsewhere, moved], 2: [deleted], 10: [deleted] };
      const batches = [
        withSuspects(batchOf(0, names('f0'), 'file'), [elsewhere]),
        ...Array.from({ length: 11 }, (_, number) =>
          withSuspects(batchOf(number, names(`${number}`)), found[number] ?? []),
        ),
        withSuspects(batchOf(1, names('f1'), 'file'), [moved]),
      ];
      await collect(ledger, await ledger.runs.create(newRun('r1', { delivery: 'file' })), batches);
      await collect(ledger, await ledger.runs.create(newRun('other', { day: '2026-11-19' })), [
        withSuspects(batchOf(0, ['x']), [elsewhere]),
      ]);
      const inBatch = (stream: BatchStream, batch: number, ...suspects: object[]) => ({
        ...{ cursor: { stream, batch }, stream, suspects },
      });
      expect(await readAll(ledger, 'r1')).toEqual([
        inBatch('file', 0, { ...elsewhere, line: fileLineOf('f0a') }),
        inBatch('file', 1, { ...moved, line: fileLineOf('f1d') }),
        inBatch('posted', 0, { ...elsewhere, line: lineOf('0a') }, { ...moved, line: lineOf('0d') }),
        inBatch('posted', 2, { ...deleted, line: lineOf('2c') }),
        inBatch('posted', 10, { ...deleted, line: lineOf('10c') }),
      ]);
      expect(await readAll(ledger, 'other')).toMatchObject([{ suspects: [{ line: lineOf('x') }] }]);
    });

    it('of an interrupted collect are removed when it starts again', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      const cutOff = await startComparing(ledger, run);
      await cutOff.store(
        chunkOf({ batches: [withSuspects(batchOf(0, ['a', 'b', 'c', 'd']), [elsewhere, moved])] }),
      );
      const owner = await ledger.runs.takeOver('r1');
      const recollected = await collect(ledger, owner, [
        withSuspects(batchOf(0, ['a', 'b', 'c']), [deleted]),
      ]);
      expect(recollected.suspects).toEqual(1);
      expect(await readAll(ledger, 'r1')).toMatchObject([{ suspects: [{ ...deleted, line: lineOf('c') }] }]);
      const late = chunkOf({ batches: [withSuspects(batchOf(1, ['e']), [elsewhere])] });
      await expect(cutOff.store(late)).rejects.toThrow(FencedError);
      expect((await ledger.runs.get('r1')).suspects).toEqual(1);
    });
  });
}

function withSuspects(batch: CollectedBatch, suspects: readonly Suspect[]): CollectedBatch {
  return { ...batch, suspects };
}

function startComparing(ledger: Ledger, run: Run) {
  return ledger.bookings.beginCollect(rightOf(run), {
    source: 'bookings.csv',
    at,
    batchSize,
    comparesMappings: true,
  });
}

async function collect(ledger: Ledger, run: Run, batches: readonly CollectedBatch[]): Promise<Run> {
  const collecting = await startComparing(ledger, run);
  await collecting.store(chunkOf({ batches }));
  return collecting.finish({ steps: planBatches(batchSize, batchSize), at });
}

async function readAll(ledger: Ledger, runId: string): Promise<SuspectLines[]> {
  const all: SuspectLines[] = [];
  for (
    let next = await ledger.bookings.nextSuspects(runId);
    next;
    next = await ledger.bookings.nextSuspects(runId, next.cursor)
  ) {
    // Guards against an endless loop.
    expect(all.map(({ cursor }) => cursor)).not.toContainEqual(next.cursor);
    all.push(next);
  }
  return all;
}

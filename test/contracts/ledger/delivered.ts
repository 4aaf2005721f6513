import { describe, expect, it } from 'vitest';
import { blankNames } from '../../../src/booking/stored-line.js';
import type { DeliveredCursor } from '../../../src/ledger/batches.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  collectedRun,
  done,
  failed,
  fileLineOf,
  halved,
  lineOf,
  newRun,
  perform,
  references,
  refused,
  rightOf,
} from './days.js';
import { collectedFileRun, performUpTo } from './file-days.js';

/** Ends a run, so that the next one of its day can start. */
async function end(ledger: Ledger, runId: string, endedAt = at): Promise<void> {
  await ledger.runs.settle(rightOf(await ledger.runs.get(runId)), { state: 'succeeded', at: endedAt });
}

/** All slices, each as its stream and its lines. */
async function readPieces(ledger: Ledger, runId: string): Promise<[string, string[]][]> {
  const pieces: [string, string[]][] = [];
  let after: DeliveredCursor | undefined;
  for (;;) {
    const piece = await ledger.bookings.nextDelivered(runId, after);
    if (!piece) return pieces;
    pieces.push([piece.stream, piece.lines.toString().split('\n').slice(0, -1)]);
    after = piece.cursor;
  }
}

async function openNext(ledger: Ledger, day?: string): Promise<string> {
  return (await ledger.runs.create(newRun('next', { topsUp: true, ...(day !== undefined && { day }) }))).id;
}

const linesOf = (...names: string[]) => names.map((name) => lineOf(name));

export function describeDelivered(opened: () => OpenedLedger): void {
  describe('what other runs of the day have delivered', () => {
    it('is nothing if there is no other run', async () => {
      const { ledger } = opened();
      expect(await readPieces(ledger, await openNext(ledger))).toEqual([]);
    });

    it('includes all batches that are done, in order, however many there are', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(50) });
      for (let batch = 12; batch >= 0; batch -= 1) await perform(ledger, run, `batch ${batch}`, done);
      await end(ledger, 'r1');
      const pieces = await readPieces(ledger, await openNext(ledger));
      expect(pieces.map(([stream, { length }]) => `${stream} ${length}`)).toEqual([
        ...Array(12).fill('posted 4'),
        'posted 2',
      ]);
      expect(pieces.flatMap(([, lines]) => lines)).toEqual(linesOf(...references(50)));
    });

    it('excludes what failed, what was refused, and what was never sent', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(13) });
      await perform(ledger, run, 'batch 0', failed);
      await perform(ledger, run, 'batch 2', done);
      await perform(ledger, run, 'batch 3', refused);
      await ledger.runs.settle(rightOf(run), { state: 'failed', at });
      await ledger.runs.create(newRun('next', { topsUp: true, replaces: 'r1' }));
      expect(await readPieces(ledger, 'next')).toEqual([
        ['posted', linesOf('BR-8', 'BR-9', 'BR-10', 'BR-11')],
      ]);
    });

    it('includes the delivered halves of a halved batch', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(6) });
      await perform(ledger, run, 'batch 0', halved);
      await perform(ledger, run, 'batch 0.1', done);
      await perform(ledger, run, 'batch 0.0', halved);
      await perform(ledger, run, 'batch 0.0.0', refused);
      await perform(ledger, run, 'batch 0.0.1', done);
      await perform(ledger, run, 'batch 1', done);
      await end(ledger, 'r1');
      expect(await readPieces(ledger, await openNext(ledger))).toEqual([
        ['posted', linesOf('BR-1')],
        ['posted', linesOf('BR-2', 'BR-3')],
        ['posted', linesOf('BR-4', 'BR-5')],
      ]);
    });

    it('includes what a file run posted, and its whole file once the by-file call was accepted', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { file: 6, body: 5 });
      await perform(ledger, run, 'batch 0', done);
      await perform(ledger, run, 'batch 1', done);
      await performUpTo(ledger, run, 'trigger');
      await ledger.runs.settle(rightOf(run), { state: 'failed', at });
      await ledger.runs.create(newRun('next', { topsUp: true, replaces: 'r1' }));
      expect(await readPieces(ledger, 'next')).toEqual([
        ['posted', linesOf('B-0', 'B-1', 'B-2', 'B-3')],
        ['posted', linesOf('B-4')],
        ['file', references(4, 'F').map(fileLineOf)],
        ['file', ['F-4', 'F-5'].map(fileLineOf)],
      ]);
    });

    it('excludes a file that was only uploaded', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { file: 6, body: 1 });
      await perform(ledger, run, 'batch 0', done);
      await performUpTo(ledger, run, 'upload');
      await ledger.runs.settle(rightOf(run), { state: 'failed', at });
      await ledger.runs.create(newRun('next', { topsUp: true, replaces: 'r1' }));
      expect(await readPieces(ledger, 'next')).toEqual([['posted', linesOf('B-0')]]);
    });

    it('comes from all runs of the day, oldest first, and from no other day', async () => {
      const { ledger } = opened();
      for (const [id, day, booking] of [
        ['r1', '2026-11-20', 'first'],
        ['r2', '2026-11-19', 'of the day before'],
        ['r3', '2026-11-20', 'second'],
        ['r4', '2026-11-21', 'of the day after'],
      ] as const) {
        const run = await collectedRun(ledger, id, { day, bookings: [booking] });
        await perform(ledger, run, 'batch 0', done);
        await end(ledger, id);
      }
      const next = await openNext(ledger);
      expect(await readPieces(ledger, next)).toEqual([
        ['posted', linesOf('first')],
        ['posted', linesOf('second')],
      ]);
    });

    it('continues in the next run after a file, wherever the file ended', async () => {
      const { ledger } = opened();
      const first = await collectedFileRun(ledger, 'r1', { file: 9, body: 0 });
      await performUpTo(ledger, first, 'archive');
      await end(ledger, 'r1');
      const second = await collectedFileRun(ledger, 'r2', { file: 1, body: 2 });
      await perform(ledger, second, 'batch 0', done);
      await performUpTo(ledger, second, 'archive');
      await end(ledger, 'r2');
      const forms = (await readPieces(ledger, await openNext(ledger))).map(
        ([stream, { length }]) => `${stream} ${length}`,
      );
      expect(forms).toEqual(['file 4', 'file 4', 'file 1', 'posted 2', 'file 1']);
    });

    it('excludes the run itself', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: ['own'] });
      await perform(ledger, run, 'batch 0', done);
      expect(await readPieces(ledger, 'r1')).toEqual([]);
    });

    it('excludes runs that were blanked or pruned', async () => {
      const { ledger } = opened();
      const old = Date.parse('2024-01-02');
      for (const id of ['r1', 'r2']) {
        const run = await collectedRun(ledger, id, { day: '2024-01-01', bookings: [id], startedAt: old });
        await perform(ledger, run, 'batch 0', done);
        await end(ledger, id, id === 'r1' ? old : at);
      }
      const next = await openNext(ledger, '2024-01-01');
      expect(await readPieces(ledger, next)).toEqual([
        ['posted', linesOf('r1')],
        ['posted', linesOf('r2')],
      ]);
      await ledger.guests.blankNames('2026-01-01', blankNames);
      expect(await readPieces(ledger, next)).toEqual([['posted', linesOf('r2')]]);
      await ledger.guests.prune('2026-01-01');
      expect(await readPieces(ledger, next)).toEqual([['posted', linesOf('r2')]]);
      await ledger.guests.prune('2026-12-01');
      expect(await readPieces(ledger, next)).toEqual([]);
    });
  });
}

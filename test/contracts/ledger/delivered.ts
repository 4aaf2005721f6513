import { describe, expect, it } from 'vitest';
import { blankNames } from '../../../src/booking/stored-line.js';
import type { DeliveredCursor } from '../../../src/ledger/batches.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { OpenedLedger } from '../ledger.js';
import { at, collectedRun, done, lineOf, newRun, perform, rightOf } from './days.js';

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

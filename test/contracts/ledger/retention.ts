import { describe, expect, it } from 'vitest';
import { planBatches } from '../../../src/review/body/body-delivery.js';
import { blankNames } from '../../../src/review/body/booking-item.js';
import { FencedError } from '../../../src/review/ledger.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  batchOf,
  chunkOf,
  claimStep,
  collectedRun,
  collectInto,
  done,
  interrupted,
  newRun,
  perform,
  refused,
  rightOf,
  startCollect,
} from './days.js';

export function describeRetention(opened: () => OpenedLedger): void {
  describe('blanking guest names', () => {
    it('rewrites the bookings of earlier days, and drops the service’s messages', async () => {
      const { ledger } = opened();
      for (const day of ['2026-10-01', '2026-10-02', '2026-10-03']) {
        const run = await collectedRun(ledger, day, {
          day,
          bookings: [`old-${day}`, 'x', 'y', 'z', 'poison'],
        });
        await perform(ledger, run, 'batch 0', done);
        await perform(ledger, run, 'batch 1', refused);
        await ledger.settle(rightOf(run), { state: 'succeeded', at: Date.parse(day) });
      }
      expect(await ledger.blankGuestNames('2026-10-03', blankNames)).toBe(2);
      for (const day of ['2026-10-01', '2026-10-02']) {
        for (const batch of [0, 1]) {
          expect((await ledger.readBatch(day, 'body', batch)).toString()).not.toContain('Ana Gil');
        }
        const [trace] = await ledger.trace(`old-${day}`);
        expect(trace).toMatchObject({
          line: `{"ServiceId":7,"BookingReferenceId":"old-${day}","ProviderHotelId":"007"}`,
          attempts: [{ outcome: 'done', httpStatus: 200, sha256: 'ab12' }],
        });
        expect(JSON.stringify([trace, await ledger.listRefused(day, 9)])).not.toMatch(/Ana Gil|Success/);
      }
      const kept = await ledger.trace('old-2026-10-03');
      expect(kept).toMatchObject([{ attempts: [{ answer: 'Success' }] }]);
      expect(JSON.stringify(kept)).toContain('Ana Gil');
    });

    it('does it once', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: ['a'] });
      await ledger.settle(rightOf(run), { state: 'succeeded', at });
      expect(await ledger.blankGuestNames('2026-12-01', blankNames)).toBe(1);
      const untouched = () => {
        throw new Error('expected no second blanking');
      };
      expect(await ledger.blankGuestNames('2026-12-02', untouched)).toBe(0);
    });

    it('blanks a run that was in progress again, for what it wrote in the meantime', async () => {
      const { ledger } = opened();
      const run = await ledger.createRun(newRun('r1'));
      const collect = await startCollect(ledger, run);
      await collect.store(chunkOf({ batches: [batchOf(0, ['a', 'b', 'c', 'd'])] }));
      await ledger.blankGuestNames('2026-12-01', blankNames);
      await collect.store(chunkOf({ batches: [batchOf(1, ['e'])] }));
      await collect.finish({ steps: planBatches(5, 4), at });
      await ledger.blankGuestNames('2026-12-01', blankNames);
      await perform(ledger, run, 'batch 0', done);
      await ledger.settle(rightOf(run), { state: 'succeeded', at });
      await ledger.blankGuestNames('2026-12-01', blankNames);
      expect((await ledger.readBatch('r1', 'body', 1)).toString()).not.toContain('Ana Gil');
      expect(JSON.stringify(await ledger.trace('a'))).not.toContain('Success');
      expect(await ledger.blankGuestNames('2026-12-01', blankNames)).toBe(0);
    });

    it('blanks a run again that was collected again afterwards', async () => {
      const { ledger } = opened();
      const run = await ledger.createRun(newRun('r1'));
      await ledger.settle(rightOf(run), { state: 'failed', at });
      await ledger.blankGuestNames('2026-12-01', blankNames);
      const again = await collectInto(ledger, await ledger.takeOver('r1'), ['a']);
      await ledger.settle(rightOf(again), { state: 'succeeded', at });
      expect((await ledger.readBatch('r1', 'body', 0)).toString()).toContain('Ana Gil');
      expect(await ledger.blankGuestNames('2026-12-01', blankNames)).toBe(1);
      expect((await ledger.readBatch('r1', 'body', 0)).toString()).not.toContain('Ana Gil');
    });
  });

  describe('listing runs with guest names', () => {
    it('lists ended runs of earlier days whose names are not blanked yet', async () => {
      const { ledger } = opened();
      const ended = async (id: string, day: string, endedAt = Date.parse(day)) => {
        const run = await collectedRun(ledger, id, { day, bookings: ['a'] });
        await ledger.settle(rightOf(run), { state: 'succeeded', at: endedAt });
      };
      await ended('old', '2026-10-01');
      await ended('older', '2026-09-30');
      await ended('of the day itself', '2026-10-03');
      await ended('ended lately', '2026-10-02', at);
      await collectedRun(ledger, 'at work', { day: '2026-09-29', bookings: ['a'], startedAt: 0 });
      const names = async () =>
        (await ledger.listRunsWithNames('2026-10-03')).map(({ id, day }) => `${id} ${day}`).sort();
      expect(await names()).toEqual(['old 2026-10-01', 'older 2026-09-30']);
      await ledger.blankGuestNames('2026-10-01', blankNames);
      expect(await names()).toEqual(['old 2026-10-01']);
      await ledger.takeOver('older');
      expect(await names()).toEqual(['old 2026-10-01', 'older 2026-09-30']);
    });
  });

  describe('of an old day', () => {
    it('a run that ended recently stays: its age counts from its end', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { day: '2023-01-05', bookings: ['a'] });
      await ledger.settle(rightOf(run), { state: 'failed', at });
      expect(await ledger.blankGuestNames('2026-10-03', blankNames)).toBe(0);
      expect(await ledger.prune('2026-10-03')).toBe(0);
      expect((await ledger.getRun('r1')).state).toBe('failed');
    });

    it('a run that somebody is working on is left alone', async () => {
      const { ledger, reopen } = opened();
      await collectedRun(ledger, 'r1', { day: '2023-01-05', bookings: ['a'] });
      const hold = await ledger.holdDay('2023-01-05');
      const other = await reopen();
      await other.blankGuestNames('2026-12-01', blankNames);
      await other.prune('2026-12-01');
      expect((await ledger.readBatch('r1', 'body', 0)).toString()).toContain('Ana Gil');
      await hold?.release();
      await other.prune('2026-12-01');
      expect((await ledger.getRun('r1')).state).toBe('cancelled');
    });
  });

  describe('pruning', () => {
    it('removes everything of earlier days except the rows of their runs', async () => {
      const { ledger } = opened();
      for (const day of ['2024-01-01', '2024-01-02']) {
        const run = await ledger.createRun(newRun(day, { day }));
        const collect = await startCollect(ledger, run);
        await collect.store(
          chunkOf({
            batches: [batchOf(0, ['kept', 'x'])],
            rejects: [{ place: 3, reason: 'wrong-cell-count', reference: 'bad' }],
            warnings: [{ reason: 'absent-column', count: 1 }],
          }),
        );
        await collect.finish({ steps: planBatches(2, 4), at });
        await perform(ledger, run, 'batch 0', done);
        await ledger.settle(rightOf(run), { state: 'succeeded', at: Date.parse(day) });
      }
      const before = await ledger.getRun('2024-01-01');
      expect(await ledger.prune('2024-01-02')).toBe(1);
      const { token: _, ...row } = await ledger.getRun('2024-01-01');
      expect(before).toMatchObject(row);
      expect(row.counts.delivered).toBe(2);
      await expect(ledger.readBatch('2024-01-01', 'body', 0)).rejects.toThrow(RangeError);
      expect(await ledger.tally('2024-01-01')).toMatchObject({ stored: 0, delivered: 0 });
      expect(await ledger.countRejects('2024-01-01')).toEqual([]);
      expect(await ledger.countWarnings('2024-01-01')).toEqual([]);
      expect((await ledger.trace('kept')).map(({ run }) => run.id)).toEqual(['2024-01-02']);
      expect((await ledger.trace('bad')).map(({ run }) => run.id)).toEqual(['2024-01-02']);
      expect(await ledger.prune('2024-01-02')).toBe(0);
    });

    it('removes any number of runs', async () => {
      const { ledger } = opened();
      await ledger.createRun(newRun('r0'));
      for (let index = 1; index < 120; index += 1) {
        await ledger.createRun(newRun(`r${index}`, { replaces: `r${index - 1}` }));
      }
      expect(await ledger.prune('2026-12-01')).toBe(120);
      expect(await ledger.prune('2026-12-01')).toBe(0);
    });

    it('cancels an unfinished run, and nobody can write to it any more', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const claim = await claimStep(ledger, run, 'batch 0');
      await ledger.record(claim, interrupted, at);
      await ledger.prune('2026-12-01');
      expect((await ledger.getRun('r1')).state).toBe('cancelled');
      await expect(ledger.record(claim, done, at)).rejects.toThrow(FencedError);
      expect(await ledger.claim(rightOf(run), 'batch 1', 1, at)).toBeUndefined();
      await expect(startCollect(ledger, run)).rejects.toThrow(FencedError);
      await expect(ledger.settle(rightOf(run), { state: 'succeeded', at })).rejects.toThrow(FencedError);
      expect((await ledger.createRun(newRun('r2'))).state).toBe('collecting');
    });
  });
}

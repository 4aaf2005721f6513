import { describe, expect, it } from 'vitest';
import { blankNames } from '../../../src/booking/stored-line.js';
import { FencedError } from '../../../src/ledger/errors.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  batchOf,
  chunkOf,
  claimStep,
  collectedRun,
  done,
  idsOf,
  interrupted,
  newRun,
  perform,
  record,
  rightOf,
  startCollect,
} from './days.js';
import { collectedFileRun, performUpTo } from './file-days.js';

export function describeRetention(opened: () => OpenedLedger): void {
  describe('blanking guest names', () => {
    it('is counted: what is kept with names, what without, and since when', async () => {
      const { ledger } = opened();
      const nothing = { count: 0 };
      const expectStored = async (stored: object) =>
        expect(await ledger.guests.describeStored()).toEqual({
          ...{ bookings: nothing, names: nothing, actions: nothing, cases: nothing, mails: nothing },
          ...stored,
        });
      await expectStored({});
      for (const day of ['2026-10-01', '2026-10-02']) {
        const run = await collectedRun(ledger, day, { day, bookings: ['a', 'b', 'c'] });
        await ledger.runs.settle(rightOf(run), { state: 'cancelled', at: Date.parse(day) });
      }
      await ledger.audit.record({ at: Date.parse('2026-10-05'), who: 'ana', action: 'show' });
      const actions = { count: 1, since: Date.parse('2026-10-05') };
      const both = { count: 6, since: '2026-10-01' };
      await expectStored({ bookings: both, names: both, actions });
      await ledger.guests.blankNames('2026-10-02', blankNames);
      const second = { count: 3, since: '2026-10-02' };
      await expectStored({ bookings: both, names: second, actions });
      await ledger.guests.prune('2026-10-02');
      await expectStored({ bookings: second, names: second, actions });
    });

    it('blanks a run that awaits its result, and later what it receives with a late one', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { file: 5, body: 1 });
      await perform(ledger, run, 'batch 0', done);
      await performUpTo(ledger, run, 'trigger');
      const forgotten: string[] = [];
      const blank = () =>
        ledger.guests.blankNames('2026-12-01', blankNames, async ({ id, state }) => {
          // Once the ledger knows of no names, nothing would look elsewhere.
          expect(await idsOf(ledger.guests.readRunsWithNames('2026-12-01'))).toEqual(['r1']);
          forgotten.push(`${id} ${state}`);
        });
      await blank();
      expect(forgotten).toEqual(['r1 awaiting-result']);
      for (const [stream, batch] of [
        ['file', 0],
        ['file', 1],
        ['posted', 0],
      ] as const)
        expect((await ledger.bookings.readBatch('r1', stream, batch)).toString()).not.toContain('Ana Gil');
      expect(JSON.stringify(await ledger.steps.listAttempts('r1', 'trigger'))).not.toContain('Success');
      expect(await ledger.runs.get('r1')).toMatchObject({ state: 'awaiting-result', linesBlanked: true });
      await blank();
      expect(forgotten).toHaveLength(1);
      const late = await ledger.runs.takeOver('r1');
      expect(late.linesBlanked).toBe(true);
      await perform(ledger, late, 'await-result', done);
      await blank();
      await perform(ledger, late, 'archive', done);
      await ledger.runs.settle(rightOf(late), { state: 'succeeded', at: Date.parse('2026-12-24') });
      await blank();
      expect(JSON.stringify(await ledger.steps.listAttempts('r1', 'archive'))).not.toContain('Success');
      expect(forgotten.slice(1)).toEqual(['r1 awaiting-result', 'r1 succeeded']);
      expect(await idsOf(ledger.guests.readRunsWithNames('2026-12-01'))).toEqual([]);
    });

    it('blanks what a run collects after its names were blanked', async () => {
      const { ledger } = opened();
      await ledger.runs.create(newRun('r1', { day: '2026-10-01', startedAt: 0 }));
      await ledger.guests.blankNames('2026-11-01', blankNames);
      const resumed = await ledger.runs.takeOver('r1');
      await (await startCollect(ledger, resumed)).store(chunkOf({ batches: [batchOf(0, ['a'])] }));
      await ledger.runs.settle(rightOf(resumed), { state: 'failed', at: Date.parse('2026-10-02') });
      await ledger.guests.blankNames('2026-11-01', blankNames);
      expect((await ledger.bookings.readBatch('r1', 'posted', 0)).toString()).not.toContain('Ana Gil');
    });
  });

  describe('the last start of a run', () => {
    it('is that of the newest run that started by then, whatever the clock said before', async () => {
      const { ledger } = opened();
      expect(await ledger.runs.findLastStart(at)).toBeUndefined();
      const starts = [at, at + 3_000, at + 1_000, at + 4_000];
      for (const [index, startedAt] of starts.entries()) {
        await ledger.runs.create(newRun(`r${index}`, { day: `2026-11-0${index + 1}`, startedAt }));
      }
      expect(await ledger.runs.findLastStart(at - 1)).toBeUndefined();
      expect(await ledger.runs.findLastStart(at)).toBe(at);
      expect(await ledger.runs.findLastStart(at + 3_999)).toBe(at + 1_000);
      expect(await ledger.runs.findLastStart(at + 4_000)).toBe(at + 4_000);
    });
  });

  describe('listing runs with guest names', () => {
    it('lists runs of earlier days, in any state, whose names are not blanked yet', async () => {
      const { ledger } = opened();
      const ended = async (id: string, day: string, endedAt = Date.parse(day)) => {
        const run = await collectedRun(ledger, id, { day, bookings: ['a'] });
        await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: endedAt });
      };
      await ended('old', '2026-10-01');
      await ended('older', '2026-09-30');
      await ended('of the day itself', '2026-10-03');
      await ended('ended lately', '2026-10-02', at);
      await collectedRun(ledger, 'collected lately', { day: '2026-09-29', bookings: ['a'], startedAt: 0 });
      await ledger.runs.create(newRun('never collected', { day: '2026-09-28', startedAt: 0 }));
      const begun = newRun('begun to collect lately', { day: '2026-09-27', startedAt: 0 });
      await startCollect(ledger, await ledger.runs.create(begun));
      const names = async () => (await idsOf(ledger.guests.readRunsWithNames('2026-10-03'))).sort();
      expect(await names()).toEqual(['never collected', 'old', 'older']);
      await ledger.guests.blankNames('2026-10-01', blankNames);
      expect(await names()).toEqual(['old']);
      await ledger.runs.takeOver('older');
      expect(await names()).toEqual(['old', 'older']);
    });
  });

  describe('of an old day', () => {
    it('a run that ended recently stays: its age counts from its end', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { day: '2023-01-05', bookings: ['a'] });
      await ledger.runs.settle(rightOf(run), { state: 'failed', at });
      expect(await ledger.guests.blankNames('2026-10-03', blankNames)).toBe(0);
      expect(await ledger.guests.prune('2026-10-03')).toBe(0);
      expect((await ledger.runs.get('r1')).state).toBe('failed');
    });

    it('a run that a process is working on is left alone', async () => {
      const { ledger, reopen } = opened();
      await collectedRun(ledger, 'r1', { day: '2023-01-05', bookings: ['a'] });
      const hold = await ledger.holds.day('2023-01-05');
      const other = await reopen();
      await other.guests.blankNames('2026-12-01', blankNames);
      await other.guests.prune('2026-12-01');
      expect((await ledger.bookings.readBatch('r1', 'posted', 0)).toString()).toContain('Ana Gil');
      await hold?.release();
      await other.guests.prune('2026-12-01');
      expect((await ledger.runs.get('r1')).state).toBe('cancelled');
    });
  });

  describe('pruning', () => {
    it('removes everything of earlier days except the rows of their runs', async () => {
      const { ledger } = opened();
      for (const day of ['2024-01-01', '2024-01-02']) {
        const run = await ledger.runs.create(newRun(day, { day }));
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
        await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: Date.parse(day) });
      }
      const before = await ledger.runs.get('2024-01-01');
      expect(await ledger.guests.prune('2024-01-02')).toBe(1);
      const { token: _, ...row } = await ledger.runs.get('2024-01-01');
      expect(before).toMatchObject(row);
      expect(row.counts.delivered).toBe(2);
      await expect(ledger.bookings.readBatch('2024-01-01', 'posted', 0)).rejects.toThrow(RangeError);
      await expect(ledger.bookings.readBatches('2024-01-01', 'posted', { from: 0, to: 1 })).rejects.toThrow(
        RangeError,
      );
      expect(await ledger.runs.tally('2024-01-01')).toMatchObject({ stored: 0, delivered: 0 });
      expect(await ledger.rejects.count('2024-01-01')).toEqual([]);
      expect(await ledger.rejects.countWarnings('2024-01-01')).toEqual([]);
      expect((await ledger.bookings.trace('kept')).map(({ run }) => run.id)).toEqual(['2024-01-02']);
      expect((await ledger.bookings.trace('bad')).map(({ run }) => run.id)).toEqual(['2024-01-02']);
      expect(await ledger.guests.prune('2024-01-02')).toBe(0);
    });

    it('cancels an unfinished run, which accepts no more writes', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const claim = await claimStep(ledger, run, 'batch 0');
      await record(ledger, claim, interrupted, at);
      await ledger.guests.prune('2026-12-01');
      expect((await ledger.runs.get('r1')).state).toBe('cancelled');
      await expect(record(ledger, claim, done, at)).rejects.toThrow(FencedError);
      expect(await ledger.steps.claim(rightOf(run), 'batch 1', 1, at)).toBeUndefined();
      await expect(startCollect(ledger, run)).rejects.toThrow(FencedError);
      await expect(ledger.runs.settle(rightOf(run), { state: 'succeeded', at })).rejects.toThrow(FencedError);
      expect((await ledger.runs.create(newRun('r2'))).state).toBe('collecting');
    });
  });
}

import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { NewRun } from '../../../src/rules/changes.js';
import type { OpenedLedger } from '../ledger.js';
import { at, collectedRun, done, newRun, perform, rightOf } from './days.js';
import { collectedFileRun, performUpTo } from './file-days.js';

const today = createBusinessDay('2026-11-22', 'Europe/Madrid');

async function endedRun(
  ledger: Ledger,
  id: string,
  day: string,
  state: 'succeeded' | 'failed',
): Promise<void> {
  const run = await ledger.runs.create(newRun(id, { day }));
  await ledger.runs.settle(rightOf(run), { state, at });
}

export function describeSummaries(opened: () => OpenedLedger): void {
  describe('over all days', () => {
    it('it counts runs by state, and knows the first day and the last successful one', async () => {
      const { ledger } = opened();
      const none = {
        collecting: 0,
        delivering: 0,
        'awaiting-result': 0,
        succeeded: 0,
        failed: 0,
        cancelled: 0,
      };
      expect(await ledger.runs.summarise(today)).toEqual({ runsByState: none });
      await endedRun(ledger, 'r1', '2026-11-18', 'failed');
      expect(await ledger.runs.summarise(today)).toEqual({
        runsByState: { ...none, failed: 1 },
        firstDay: '2026-11-18',
      });
      await endedRun(ledger, 'r2', '2026-11-20', 'succeeded');
      await endedRun(ledger, 'r3', '2026-11-19', 'succeeded');
      await endedRun(ledger, 'r4', '2026-11-21', 'failed');
      await ledger.runs.create(newRun('r5', { day: '2026-11-21', replaces: 'r4' }));
      await collectedRun(ledger, 'r6', { day: '2026-11-22' });
      expect(await ledger.runs.summarise(today)).toEqual({
        runsByState: { ...none, collecting: 1, delivering: 1, succeeded: 2, failed: 1, cancelled: 1 },
        firstDay: '2026-11-18',
        lastGoodDay: '2026-11-20',
      });
    });

    it('a day is good only if it has begun, and was collected after it had ended', async () => {
      const { ledger } = opened();
      await endedRun(ledger, 'good', '2026-11-03', 'succeeded');
      const { lastInstant } = today.previous();
      const early = { day: '2026-11-21', startedAt: lastInstant.getTime() };
      await ledger.runs.settle(rightOf(await ledger.runs.create(newRun('early', early))), {
        state: 'succeeded',
        at,
      });
      await endedRun(ledger, 'future', '2027-11-21', 'succeeded');
      for (let ahead = 10; ahead < 30; ahead += 1)
        await endedRun(ledger, `ahead-${ahead}`, `2026-11-${ahead}`, 'failed');
      expect(await ledger.runs.summarise(today)).toMatchObject({ lastGoodDay: '2026-11-03' });
      const topUp = { day: '2026-11-21', startedAt: lastInstant.getTime() + 1, topsUp: true };
      await ledger.runs.settle(rightOf(await ledger.runs.create(newRun('top-up', topUp))), {
        state: 'succeeded',
        at,
      });
      expect(await ledger.runs.summarise(today)).toMatchObject({ lastGoodDay: '2026-11-21' });
    });

    it('it lists the reviewed days of a range: by any run that reviewed them, oldest first', async () => {
      const { ledger } = opened();
      const list = (from: string, to: string) =>
        ledger.runs.listReviewedDays({
          from: createBusinessDay(from, 'Europe/Madrid'),
          to: createBusinessDay(to, 'Europe/Madrid'),
        });
      const succeed = async (run: NewRun) =>
        ledger.runs.settle(rightOf(await ledger.runs.create(run)), { state: 'succeeded', at });
      for (const day of ['2026-11-10', '2026-11-14', '2026-11-12', '2026-11-17'])
        await endedRun(ledger, `good-${day}`, day, 'succeeded');
      await endedRun(ledger, 'failed-later', '2026-11-12', 'failed');
      await endedRun(ledger, 'failed', '2026-11-11', 'failed');
      await succeed(newRun('so-far', { day: '2026-11-13', trigger: 'today' }));
      const { lastInstant } = createBusinessDay('2026-11-15', 'Europe/Madrid');
      await succeed(newRun('early', { day: '2026-11-15', startedAt: lastInstant.getTime() }));
      const counted = await collectedRun(ledger, 'short', { day: '2026-11-16', bookings: ['one'] });
      await perform(ledger, counted, 'batch 0', done);
      await ledger.runs.settle(rightOf(counted), { state: 'succeeded', at });
      await ledger.runs.noteExpected('short', 2);

      expect(await list('2026-11-11', '2026-11-16')).toEqual(['2026-11-12', '2026-11-14']);
      expect(await list('2026-11-10', '2026-11-17')).toEqual([
        '2026-11-10',
        '2026-11-12',
        '2026-11-14',
        '2026-11-17',
      ]);
      await ledger.runs.noteExpected('short', 1);
      await succeed(
        newRun('late', { day: '2026-11-15', startedAt: lastInstant.getTime() + 1, topsUp: true }),
      );
      expect(await list('2026-11-15', '2026-11-16')).toEqual(['2026-11-15', '2026-11-16']);
    });

    it('it lists the newest run of each day of a range, oldest day first', async () => {
      const { ledger } = opened();
      await endedRun(ledger, 'before', '2026-10-31', 'succeeded');
      await endedRun(ledger, 'last', '2026-11-04', 'succeeded');
      await endedRun(ledger, 'first', '2026-11-01', 'succeeded');
      await endedRun(ledger, 'old', '2026-11-02', 'failed');
      await ledger.runs.create(newRun('new', { day: '2026-11-02', startedAt: at - 1, replaces: 'old' }));
      await endedRun(ledger, 'after', '2026-11-05', 'succeeded');
      const ids = async (from: string, to: string) =>
        (await ledger.runs.listLatest({ from, to })).map(({ id }) => id);
      expect(await ids('2026-11-01', '2026-11-04')).toEqual(['first', 'new', 'last']);
      expect(await ids('2026-11-03', '2026-11-03')).toEqual([]);
      expect((await ledger.runs.listLatest({ from: '2026-11-02', to: '2026-11-02' }))[0]).toEqual(
        await ledger.runs.get('new'),
      );
    });

    it('it lists the newest run of each day that went by file and may lack its result, oldest day first', async () => {
      const { ledger } = opened();
      const byFile = async (id: string, day: string, state: 'failed' | 'succeeded') => {
        const run = await ledger.runs.create(newRun(id, { day, delivery: 'file' }));
        await ledger.runs.settle(rightOf(run), { state, at });
      };
      await performUpTo(ledger, await collectedFileRun(ledger, 'awaiting'), 'trigger');
      await byFile('failed', '2025-01-01', 'failed');
      await byFile('done', '2026-11-18', 'succeeded');
      await byFile('replaced', '2026-11-17', 'failed');
      await endedRun(ledger, 'newer', '2026-11-17', 'succeeded');
      await endedRun(ledger, 'by body', '2026-11-16', 'failed');
      const found = await ledger.runs.listWithoutResult();
      expect(found.map(({ id }) => id)).toEqual(['failed', 'awaiting']);
      expect(found[1]).toEqual(await ledger.runs.get('awaiting'));
    });

    it('it lists the active runs, oldest day first', async () => {
      const { ledger } = opened();
      expect(await ledger.runs.listActive()).toEqual([]);
      await ledger.runs.create(newRun('collecting', { day: '2026-11-22' }));
      await performUpTo(ledger, await collectedFileRun(ledger, 'awaiting'), 'trigger');
      await collectedRun(ledger, 'delivering', { day: '2026-11-21' });
      await endedRun(ledger, 'ended', '2026-11-19', 'succeeded');
      expect((await ledger.runs.listActive()).map(({ id }) => id)).toEqual([
        'awaiting',
        'delivering',
        'collecting',
      ]);
    });
  });
}

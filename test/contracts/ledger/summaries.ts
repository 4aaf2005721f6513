import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { NewRun } from '../../../src/rules/changes.js';
import type { OpenedLedger } from '../ledger.js';
import { at, collectedRun, newRun, rightOf, startCollect } from './days.js';
import { collectedFileRun, performUpTo } from './file-days.js';

const today = createBusinessDay('2026-11-22', 'Europe/Madrid');

async function endedRun(
  ledger: Ledger,
  id: string,
  day: string,
  state: 'succeeded' | 'failed',
  changes: Partial<NewRun> = {},
): Promise<void> {
  const run = await ledger.runs.create(newRun(id, { day, ...changes }));
  await ledger.runs.settle(rightOf(run), { state, at });
}

export function describeSummaries(opened: () => OpenedLedger): void {
  describe('over all days', () => {
    it('it counts runs by state, lists the active ones by their days, and knows the first day and the last successful one', async () => {
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
      await collectedRun(ledger, 'r6', { day: '2026-11-22' });
      await endedRun(ledger, 'r2', '2026-11-20', 'succeeded');
      await endedRun(ledger, 'r3', '2026-11-19', 'succeeded');
      await endedRun(ledger, 'r4', '2026-11-21', 'failed');
      await ledger.runs.create(newRun('r5', { day: '2026-11-21', replaces: 'r4' }));
      expect((await ledger.runs.listActive()).map(({ id }) => id)).toEqual(['r5', 'r6']);
      expect(await ledger.runs.summarise(today)).toEqual({
        runsByState: { ...none, collecting: 1, delivering: 1, succeeded: 2, failed: 1, cancelled: 1 },
        firstDay: '2026-11-18',
        lastGoodDay: '2026-11-20',
      });
    });

    it('the last good day is found beyond any number of days that were reviewed in part, or that somebody has to accept', async () => {
      const { ledger } = opened();
      await endedRun(ledger, 'good', '2026-11-03', 'succeeded');
      // More than are read at once.
      for (let ahead = 6; ahead < 18; ahead += 1) {
        const early = createBusinessDay(`2026-11-${String(ahead).padStart(2, '0')}`, 'Europe/Madrid');
        const startedAt = early.lastInstant.getTime();
        await endedRun(ledger, `early-${ahead}`, early.iso, 'succeeded', { startedAt });
      }
      await endedRun(ledger, 'so far', '2026-11-18', 'succeeded', { trigger: 'today' });
      await endedRun(ledger, 'future', '2027-11-21', 'succeeded');
      const few = await ledger.runs.create(newRun('few', { day: '2026-11-05' }));
      const comparison = { accepted: 2, usual: 412, drops: [{ provider: null, accepted: 2, usual: 412 }] };
      await (await startCollect(ledger, few)).noteVolume({ at, providers: null, comparison });
      await ledger.runs.settle(rightOf(few), { state: 'succeeded', at });
      const from = createBusinessDay('2026-11-03', 'Europe/Madrid');
      const read = async () => ({
        lastGoodDay: (await ledger.runs.summarise(today)).lastGoodDay,
        reviewed: await ledger.runs.listReviewedDays({ from, to: today }),
        compared: (await ledger.runs.listVolumes(['2026-11-05', '2026-11-18'])).length,
      });
      const reviewed = ['2026-11-03', '2026-11-05'];
      expect(await read()).toEqual({ lastGoodDay: '2026-11-03', reviewed, compared: 0 });
      const accepted = await ledger.runs.accept('few', { volume: { at: at + 1, by: 'ada' } });
      expect(await ledger.runs.get('few')).toEqual(accepted);
      expect(await read()).toEqual({ lastGoodDay: '2026-11-05', reviewed, compared: 1 });
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
  });
}

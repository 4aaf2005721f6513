import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { blankNames } from '../../../src/booking/stored-line.js';
import { splitStoredLines } from '../../../src/ledger/batches.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { readReference } from '../../../src/review/stored/stored-line.js';
import type { NewRun } from '../../../src/rules/changes.js';
import type { OpenedLedger } from '../ledger.js';
import { at, collectedRun, day, done, newRun, perform, rightOf } from './days.js';

const tomorrow = createBusinessDay(day, 'Europe/Madrid').next();

async function succeed(ledger: Ledger, id: string, options: Partial<NewRun>): Promise<void> {
  const run = await ledger.runs.create(newRun(id, { startedAt: at, ...options }));
  await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
}

export function describeDayRuns(opened: () => OpenedLedger): void {
  describe('which runs count for a day', () => {
    it('they are listed over many days, with runs of today collapsed into one', async () => {
      const { ledger } = opened();
      const list = async (from: string, to: string) =>
        (await ledger.runs.listOfDays({ from, to })).map(({ id }) => id);
      for (const [id, bookings] of [
        ['today-0', ['one', 'two']],
        ['today-1', ['three']],
        ['today-2', []],
      ] as const) {
        const run = await collectedRun(ledger, id, { trigger: 'today', topsUp: id !== 'today-0', bookings });
        if (bookings.length > 0) await perform(ledger, run, 'batch 0', done);
        await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
      }
      expect(await ledger.runs.listOfDays({ from: day, to: day })).toMatchObject([
        { id: 'today-2', counts: { accepted: 3, delivered: 3, pending: 0 } },
      ]);
      await succeed(ledger, 'nightly', { trigger: 'schedule', topsUp: true });
      await succeed(ledger, 'next-day', { day: tomorrow.iso });
      await succeed(ledger, 'before', { day: '2026-11-19' });
      expect(await list('2026-11-19', tomorrow.iso)).toEqual(['before', 'nightly', 'today-2', 'next-day']);
      const [nightly, newest] = await ledger.runs.list({ day, limit: 9 });
      const counts = { ...newest?.counts, ...{ accepted: 3, delivered: 3 } };
      expect(await ledger.runs.listOfDays({ from: day, to: day })).toEqual([nightly, { ...newest, counts }]);
    });

    it('each day has a mark, which changes with its runs and their bookings, and with nothing else', async () => {
      const { ledger, reopen } = opened();
      const read = async () => (await reopen()).runs.markDays({ from: '2026-11-19', to: day });
      expect(await read()).toEqual([]);
      const seen = new Set<string>();
      const expectChange = async () => {
        const [before, found] = await read();
        expect([before?.day, found?.day]).toEqual(['2026-11-19', day]);
        expect(before?.mark).toBe((await read())[0]?.mark);
        const { size } = seen;
        expect(seen.add(found?.mark ?? '').size).toBe(size + 1);
        return before?.mark;
      };
      await succeed(ledger, 'before', { day: '2026-11-19' });
      await succeed(ledger, 'after', { day: tomorrow.iso });
      const run = await collectedRun(ledger, 'r1', { bookings: ['a'] });
      const untouched = await expectChange();
      await perform(ledger, run, 'batch 0', done);
      await expectChange();
      await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
      await expectChange();
      const mail = { sha256: 'aa', receivedAt: at, readAt: at, from: 'a file', outcome: 'named' as const };
      const bookings = [{ runId: 'r1', stream: 'posted' as const, batch: 0, row: 0 }];
      await ledger.mails.record({ ...mail, bookings, pairs: [] });
      await expectChange();
      await succeed(ledger, 'r2', {});
      expect(await expectChange()).toBe(untouched);
      await ledger.guests.prune('2026-12-01');
      await expectChange();
    });

    it('what a `today` run sent is compared without names once they were blanked', async () => {
      const { ledger } = opened();
      for (const [id, trigger] of [
        ['nightly', 'schedule'],
        ['today', 'today'],
      ] as const) {
        const run = await collectedRun(ledger, id, { trigger, bookings: [id] });
        await perform(ledger, run, 'batch 0', done);
        await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
      }
      await ledger.guests.blankNames('2027-01-01', blankNames);
      await ledger.runs.create(newRun('next', { topsUp: true }));
      const first = await ledger.bookings.nextDelivered('next');
      expect(first).toMatchObject({ stream: 'posted', guestNames: 'omit' });
      expect(splitStoredLines(first?.lines ?? Buffer.alloc(0)).map((line) => readReference(line))).toEqual([
        'today',
      ]);
      expect(await ledger.bookings.nextDelivered('next', first?.cursor)).toBeUndefined();
    });
  });
}

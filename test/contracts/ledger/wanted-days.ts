import { describe, expect, it } from 'vitest';
import type { NewRun } from '../../../src/rules/changes.js';
import type { OpenedLedger } from '../ledger.js';
import { at, day } from './days.js';

const wanted = { day, runId: 'promised', mode: 'run', trigger: 'hook', wantedAt: at } as const;
const own: NewRun = { id: 'own', day, delivery: 'body', trigger: 'manual', startedAt: at + 1 };

export function describeWantedDays(opened: () => OpenedLedger): void {
  describe('wanted days', () => {
    it('are listed in the order in which they were wanted, with all that was asked', async () => {
      const { ledger, reopen } = opened();
      const accepts = { kinds: ['volume'], by: 'ana' } as const;
      const later = { ...wanted, day: '2026-11-01', runId: 'later', mode: 'late', reason: 'x' } as const;
      await ledger.wanted.want({ ...wanted, accepts, expected: 7 });
      await ledger.wanted.want(later);
      expect(await (await reopen()).wanted.list()).toEqual([{ ...wanted, accepts, expected: 7 }, later]);
    });

    it('keep the first promise, with the number of records that was named last', async () => {
      const { ledger } = opened();
      expect(await ledger.wanted.want(wanted)).toEqual({ wanted, isNew: true });
      const second = await ledger.wanted.want({ ...wanted, runId: 'second', expected: 7 });
      expect(second).toEqual({ wanted: { ...wanted, expected: 7 }, isNew: false });
      expect(await ledger.wanted.list()).toEqual([{ ...wanted, expected: 7 }]);
    });

    it.each(['manual', 'schedule', 'replay'] as const)(
      'give the run that a process opens for %s the promised id and the number of records',
      async (trigger) => {
        const { ledger } = opened();
        await ledger.wanted.want({ ...wanted, expected: 7 });
        expect(await ledger.wanted.findPromise('promised')).toMatchObject({ day });
        const run = await ledger.runs.create({ ...own, trigger });
        expect(run).toMatchObject({ id: 'promised', expected: 7, trigger });
        expect(await ledger.wanted.findPromise('promised')).toBeUndefined();
        // The next run of the day is its own.
        const next = await ledger.runs.create({ ...own, startedAt: at + 2, replaces: 'promised' });
        expect(next.id).toBe('own');
      },
    );

    it.each([
      ['a run of today', { ...wanted }, 'today'],
      ['another run than a replay', { ...wanted, mode: 'replay', trigger: 'replay' }, 'schedule'],
    ] as const)('do not give their id to %s', async (_, asked, trigger) => {
      const { ledger } = opened();
      await ledger.wanted.want(asked);
      expect((await ledger.runs.create({ ...own, trigger })).id).toBe('own');
    });

    it('make one run of a day that is wanted and opened at once', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      for (let turn = 1; turn <= 20; turn += 1) {
        const ofDay = `2026-12-${String(turn).padStart(2, '0')}`;
        const [promise, run] = await Promise.all([
          other.wanted.want({ ...wanted, day: ofDay, runId: `promised-${turn}` }),
          ledger.runs.create({ ...own, day: ofDay, id: `own-${turn}` }),
        ]);
        // Either the run was seen, and nothing is promised, or it is the promised one.
        expect(run.id).toBe(promise ? `promised-${turn}` : `own-${turn}`);
      }
    });

    it('are wanted anew once their run has ended', async () => {
      const { ledger } = opened();
      await ledger.wanted.want(wanted);
      const { token } = await ledger.runs.create(own);
      expect(await ledger.wanted.want({ ...wanted, runId: 'x' })).toMatchObject({ isNew: false });
      const failure = { class: 'data', code: 'missing', message: 'no file' } as const;
      await ledger.runs.settle({ runId: 'promised', token }, { state: 'failed', failure, at: at + 2 });
      const again = { ...wanted, latestRun: 'promised', endedToken: token };
      expect(await ledger.wanted.want(again)).toEqual({ wanted: again, isNew: true });
      expect(await ledger.wanted.list()).toEqual([again]);
      expect(await ledger.wanted.countWaiting('hook')).toBe(1);
    });

    it('wait until somebody opens their run, and can be withdrawn until then', async () => {
      const { ledger } = opened();
      const replay = { ...wanted, mode: 'replay', trigger: 'replay' } as const;
      await ledger.wanted.want(replay);
      expect(await ledger.wanted.countWaiting('replay')).toBe(1);
      expect(await ledger.wanted.countWaiting('hook')).toBe(0);
      expect(await ledger.wanted.withdraw(day)).toEqual(replay);
      expect(await ledger.wanted.withdraw(day)).toBeUndefined();
      await ledger.wanted.want(replay);
      await ledger.runs.create({ ...own, trigger: 'replay' });
      expect(await ledger.wanted.countWaiting('replay')).toBe(0);
      expect(await ledger.wanted.withdraw(day)).toBeUndefined();
      expect(await ledger.wanted.list()).toEqual([]);
    });
  });
}

import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import type { OpenedLedger } from '../ledger.js';
import { at, collectedRun, day, done, look, newRun, perform, record, rightOf } from './days.js';
import { collectedFileRun, performUpTo } from './file-days.js';

export function describeRuns(opened: () => OpenedLedger): void {
  describe('runs', () => {
    it('starts a run as collecting, with all counts zero', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(
        newRun('r1', { delivery: 'file', trigger: 'replay', reason: 'source was wrong' }),
      );
      expect(run).toEqual({
        id: 'r1',
        day,
        delivery: 'file',
        trigger: 'replay',
        reason: 'source was wrong',
        state: 'collecting',
        token: 1,
        startedAt: at,
        counts: {
          read: 0,
          accepted: 0,
          duplicates: 0,
          rejected: 0,
          delivered: 0,
          refused: 0,
          pending: 0,
          repeated: 0,
          filtered: 0,
          carried: 0,
          posted: 0,
          affected: null,
          unanswered: null,
        },
        openSteps: 0,
        pausedMs: 0,
        failedSteps: 0,
        failuresInRow: 0,
        verdictsRecorded: 0,
      });
      expect(await ledger.runs.get('r1')).toEqual(run);
    });

    it('allows one active run per day, whichever process requests a second', async () => {
      const { ledger, reopen } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await expect(ledger.runs.create(newRun('r2'))).rejects.toThrow();
      await expect((await reopen()).runs.create(newRun('r3', { trigger: 'schedule' }))).rejects.toThrow();
      expect((await performUpTo(ledger, run, 'trigger')).state).toBe('awaiting-result');
      await expect(ledger.runs.create(newRun('r4'))).rejects.toThrow();
      expect((await ledger.runs.list({ day, limit: 10 })).map(({ id }) => id)).toEqual(['r1']);
      expect((await ledger.runs.create(newRun('r5', { day: '2026-11-21' }))).state).toBe('collecting');
    });

    it('creates one run when two processes request it at once', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      const answers = await Promise.allSettled([
        ledger.runs.create(newRun('r1')),
        other.runs.create(newRun('r2')),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });

    it('refuses a second run with the same id', async () => {
      const { ledger } = opened();
      await ledger.runs.create(newRun('r1'));
      await expect(ledger.runs.create(newRun('r1', { day: '2026-11-21' }))).rejects.toThrow();
    });

    it.each(['succeeded', 'failed', 'cancelled'] as const)(
      'allows a new run once the first is %s',
      async (state) => {
        const { ledger } = opened();
        const first = await ledger.runs.create(newRun('r1'));
        await ledger.runs.settle(rightOf(first), { state, at: at + 5 });
        expect(await ledger.runs.get('r1')).toMatchObject({ state, finishedAt: at + 5 });
        expect((await ledger.runs.create(newRun('r2'))).state).toBe('collecting');
      },
    );

    it('cancels the run that a new one replaces, and fences its owner', async () => {
      const { ledger } = opened();
      const old = await collectedRun(ledger, 'r1');
      const claim = await ledger.steps.claim(rightOf(old), 'batch 0', 1, at);
      const replacing = await ledger.runs.create(
        newRun('r2', { trigger: 'replay', reason: 'wrong file', replaces: 'r1', startedAt: at + 9 }),
      );
      expect(replacing.state).toBe('collecting');
      const before = await look(ledger, 'r1');
      expect(before.run).toMatchObject({ state: 'cancelled', finishedAt: at + 9 });
      if (!claim) throw new Error('expected a claim, got: none');
      await expect(record(ledger, claim, done, at)).rejects.toThrow(FencedError);
      expect(await ledger.steps.claim(rightOf(old), 'batch 1', 1, at)).toBeUndefined();
      await expect(ledger.runs.settle(rightOf(old), { state: 'succeeded', at })).rejects.toThrow(FencedError);
      expect(await look(ledger, 'r1')).toEqual(before);
    });

    it('keeps the replaced run as it was when the new one cannot be created', async () => {
      const { ledger } = opened();
      const old = await ledger.runs.create(newRun('r1'));
      await expect(ledger.runs.create(newRun('r1', { replaces: 'r1' }))).rejects.toThrow();
      expect(await ledger.runs.get('r1')).toEqual(old);
    });

    it('never cancels a run that succeeded', async () => {
      const { ledger } = opened();
      const old = await ledger.runs.create(newRun('r1'));
      await ledger.runs.settle(rightOf(old), { state: 'succeeded', at });
      await ledger.runs.create(newRun('r2', { replaces: 'r1' }));
      expect((await ledger.runs.get('r1')).state).toBe('succeeded');
    });

    it('returns the latest run of a day, whatever the clock said', async () => {
      const { ledger } = opened();
      expect(await ledger.runs.latest(day)).toBeUndefined();
      await ledger.runs.create(newRun('r1', { startedAt: at + 100 }));
      await ledger.runs.create(newRun('r2', { startedAt: at, replaces: 'r1' }));
      await ledger.runs.create(newRun('r3', { day: '2026-11-19' }));
      expect((await ledger.runs.latest(day))?.id).toBe('r2');
      expect((await ledger.runs.latest('2026-11-19'))?.id).toBe('r3');
    });

    it('lists newest days first, and newest runs first within a day', async () => {
      const { ledger } = opened();
      await ledger.runs.create(newRun('b', { day: '2026-11-20' }));
      await ledger.runs.create(newRun('a', { day: '2026-11-20', replaces: 'b' }));
      await ledger.runs.create(newRun('d', { day: '2025-12-31' }));
      await ledger.runs.create(newRun('c', { day: '2026-11-21' }));
      const ids = async (options: { day?: string; limit: number }) =>
        (await ledger.runs.list(options)).map(({ id }) => id);
      expect(await ids({ limit: 10 })).toEqual(['c', 'a', 'b', 'd']);
      expect(await ids({ limit: 2 })).toEqual(['c', 'a']);
      expect(await ids({ day: '2026-11-20', limit: 10 })).toEqual(['a', 'b']);
      expect(await ids({ day: '2026-11-20', limit: 1 })).toEqual(['a']);
      expect(await ids({ day: '2026-11-22', limit: 1 })).toEqual([]);
    });

    it('lists them in slices, each run once, also of one day', async () => {
      const { ledger } = opened();
      for (const id of ['a', 'b', 'c'])
        for (const day of ['2026-11-21', '2025-12-31', '2026-11-20'])
          await ledger.runs.settle(rightOf(await ledger.runs.create(newRun(`${day} ${id}`, { day }))), {
            state: 'failed',
            at,
          });
      for (const day of [undefined, '2026-11-20']) {
        const all = (await ledger.runs.list({ day, limit: 10 })).map(({ id }) => id);
        expect(all).toHaveLength(day === undefined ? 9 : 3);
        const listed: string[] = [];
        for (let after: string | undefined; listed.length < all.length; after = listed.at(-1)) {
          const slice = await ledger.runs.list({ day, limit: 2, after });
          expect(slice).not.toEqual([]);
          listed.push(...slice.map(({ id }) => id));
        }
        expect(listed).toEqual(all);
        expect(await ledger.runs.list({ day, limit: 2, after: listed.at(-1) })).toEqual([]);
      }
    });

    it('throws a RangeError for an unknown run in every method', async () => {
      const { ledger } = opened();
      await expect(ledger.runs.get('nobody')).rejects.toThrow(RangeError);
      await expect(ledger.runs.takeOver('nobody')).rejects.toThrow(RangeError);
      await expect(ledger.runs.tally('nobody')).rejects.toThrow(RangeError);
      await expect(ledger.bookings.readBatch('nobody', 'posted', 0)).rejects.toThrow(RangeError);
      await expect(ledger.bookings.readBatches('nobody', 'posted', { from: 0, to: 1 })).rejects.toThrow(
        RangeError,
      );
    });

    it('settles once: the second settlement of a run is refused and changes nothing', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const failure = {
        class: 'retryable',
        code: 'steps-failed',
        message: '1 step ran out of tries',
      } as const;
      expect(await ledger.runs.settle(rightOf(run), { state: 'failed', failure, at: at + 7 })).toBe(true);
      const settled = await ledger.runs.get('r1');
      expect(settled).toMatchObject({ state: 'failed', failure, finishedAt: at + 7 });
      expect(await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: at + 8 })).toBe(false);
      expect(await ledger.runs.get('r1')).toEqual(settled);
    });

    it('keeps everything when it is closed and reopened', async () => {
      const { ledger, reopen } = opened();
      const run = await collectedRun(ledger, 'r1');
      await perform(ledger, run, 'batch 0', done);
      const before = await look(ledger, 'r1');
      const lines = await ledger.bookings.readBatch('r1', 'posted', 1);
      await ledger.close();
      await ledger.close();
      const again = await reopen();
      expect(await look(again, 'r1')).toEqual(before);
      expect(await again.bookings.readBatch('r1', 'posted', 1)).toEqual(lines);
      await perform(again, run, 'batch 1', done);
    });
  });
}

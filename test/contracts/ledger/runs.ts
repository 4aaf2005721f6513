import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import { renderMark } from '../../../src/ledger/identity.js';
import type { OpenedLedger } from '../ledger.js';
import { at, collectedRun, day, done, look, newRun, record, rightOf } from './days.js';

export function describeRuns(opened: () => OpenedLedger): void {
  describe('runs', () => {
    it('starts a run as collecting, with all counts zero', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(
        newRun('r1', { delivery: 'file', trigger: 'replay', reason: 'source was wrong' }),
      );
      expect(run).toMatchObject({
        ...{ id: 'r1', day, delivery: 'file', trigger: 'replay', reason: 'source was wrong' },
        ...{ state: 'collecting', token: 1, startedAt: at, openSteps: 0, pausedMs: 0 },
      });
      const { affected, unanswered, ...counts } = run.counts;
      expect([affected, unanswered]).toEqual([null, null]);
      expect(new Set(Object.values(counts))).toEqual(new Set([0]));
      expect(await ledger.runs.get('r1')).toEqual(run);
    });

    it('change the ledger whenever one begins or goes on to another state; who takes a copy leaves all others behind', async () => {
      const { ledger } = opened();
      const changes: number[] = [];
      const note = async () => changes.push((await ledger.identify()).changes);
      await note();
      const run = await ledger.runs.create(newRun('r1'));
      await note();
      await ledger.runs.settle(rightOf(run), { state: 'failed', at });
      await note();
      expect(new Set(changes).size).toBe(3);
      expect(changes).toEqual(changes.toSorted((one, next) => one - next));
      const { ledger: id } = await ledger.identify();
      await ledger.leaveCopiesBehind(renderMark({ ledger: id, changes: 5_000_000 }));
      expect((await ledger.identify()).changes).toBe(6_000_000);
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

    it('lists newest days first, and newest runs first within a day, in slices', async () => {
      const { ledger } = opened();
      for (const id of ['a', 'b', 'c'])
        for (const day of ['2026-11-21', '2025-12-31', '2026-11-20'])
          await ledger.runs.settle(rightOf(await ledger.runs.create(newRun(`${day} ${id}`, { day }))), {
            state: 'failed',
            at,
          });
      const all = ['2026-11-21', '2026-11-20', '2025-12-31'].flatMap((day) =>
        ['c', 'b', 'a'].map((id) => `${day} ${id}`),
      );
      for (const day of [undefined, '2026-11-20']) {
        const expected = all.filter((id) => day === undefined || id.startsWith(day));
        const listed: string[] = [];
        for (let after: string | undefined; listed.length < expected.length; after = listed.at(-1)) {
          const slice = await ledger.runs.list({ day, limit: 2, after });
          expect(slice).not.toEqual([]);
          listed.push(...slice.map(({ id }) => id));
        }
        expect(listed).toEqual(expected);
        expect(await ledger.runs.list({ day, limit: 2, after: listed.at(-1) })).toEqual([]);
      }
    });
  });
}

import { describe, expect, it } from 'vitest';
import { findWait } from '../../../src/ledger/steps.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  claimStep,
  done,
  failed,
  interrupted,
  openNames,
  perform,
  record,
  retry,
  rightOf,
} from './days.js';
import { collectedFileRun, fileSteps, overdue, performUpTo } from './file-days.js';

export function describeFileChain(opened: () => OpenedLedger): void {
  describe('the chain of a file run', () => {
    it('goes on step by step, each inserted by the one before it; batches wait for nothing', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 6 });
      expect(run).toMatchObject({ openSteps: 3, counts: { accepted: 12 } });
      for (const [index, step] of fileSteps.entries()) {
        expect(await openNames(ledger, 'r1')).toEqual([step, 'batch 0', 'batch 1']);
        const next = fileSteps[index + 1];
        if (next) expect(await ledger.steps.claim(rightOf(run), next, 1, at)).toBeUndefined();
        const { opened: follow, run: after } = await perform(ledger, run, step, done);
        expect(follow).toEqual(next ? [{ position: 0, name: next, attempt: 1 }] : []);
        expect(after.openSteps).toBe(next ? 3 : 2);
        const { delivered, pending } = after.counts;
        expect(await ledger.runs.tally('r1')).toMatchObject({
          delivered,
          pending,
          openSteps: after.openSteps,
        });
        expect(delivered).toBe(index < 2 ? 0 : 6);
      }
    });

    it('says what the run waits for, once nothing else is open', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 1 });
      const until = at + 500;
      const waitAt = async (now: number) => findWait(await ledger.steps.readOpenWork('r1', now));
      await perform(ledger, run, 'write', retry({ notBefore: until }));
      expect(await waitAt(until - 1)).toBeUndefined();
      const claim = await claimStep(ledger, run, 'batch 0');
      expect(await waitAt(until - 1)).toBeUndefined();
      await record(ledger, claim, done, at);
      expect(await waitAt(until - 1)).toMatchObject({ step: 'write', until, code: 'timeout' });
      expect(await waitAt(until)).toBeUndefined();
      await ledger.runs.takeOver('r1');
      expect(await waitAt(until - 1)).toBeUndefined();
    });

    it('stays where it is while a step is retried', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      const { run: after } = await perform(ledger, run, 'write', retry());
      expect(after.openSteps).toBe(1);
      expect(await openNames(ledger, 'r1')).toEqual(['write']);
      expect(await ledger.steps.claim(rightOf(run), 'upload', 1, at)).toBeUndefined();
    });

    it('repeats no booking before its call: what only prepares it sends none', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      const repeated = async () => (await ledger.runs.get('r1')).counts.repeated;
      for (const step of ['write', 'upload', 'trigger']) {
        await perform(ledger, run, step, interrupted);
        expect(await repeated()).toBe(0);
        await perform(ledger, run, step, done, 2);
      }
      expect(await repeated()).toBe(6);
    });

    it.each([
      ['write', 0],
      ['upload', 0],
      ['trigger', 0],
      ['await-result', 6],
      ['archive', 6],
    ] as const)('ends where %s fails, which leaves its bookings pending', async (step, delivered) => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 6 });
      for (const before of fileSteps.slice(0, fileSteps.indexOf(step)))
        await perform(ledger, run, before, done);
      const { run: after } = await perform(ledger, run, step, failed);
      expect(after).toMatchObject({ openSteps: 2, failedSteps: 1, counts: { delivered } });
      expect(await openNames(ledger, 'r1')).toEqual(['batch 0', 'batch 1']);
      expect(await ledger.runs.tally('r1')).toEqual({
        stored: 12,
        delivered,
        refused: 0,
        pending: 12 - delivered,
        openSteps: 2,
        failedSteps: 1,
        retryableSteps: 1,
        firstFailed: { name: step, code: 'http-503', failureClass: 'retryable' },
      });
    });

    it('rests at an overdue result, which is not a failure, until somebody takes the run over', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'trigger');
      const {
        run: after,
        opened: follow,
        ending,
        settled,
      } = await perform(ledger, run, 'await-result', overdue);
      expect({ ending, settled, follow }).toEqual({ ending: 'overdue', settled: true, follow: [] });
      expect(after).toMatchObject({
        state: 'awaiting-result',
        overdueAt: at,
        failedSteps: 0,
        failuresInRow: 0,
      });
      expect(after).not.toHaveProperty('finishedAt');
      expect(await ledger.runs.get('r1')).toEqual(after);
      const tally = await ledger.runs.tally('r1');
      expect(tally).toMatchObject({ openSteps: after.openSteps, failedSteps: 0, delivered: 6, pending: 0 });
      expect(tally).not.toHaveProperty('firstFailed');
      expect(findWait(await ledger.steps.readOpenWork('r1', at))).toBeUndefined();
      expect(await ledger.steps.claim(rightOf(run), 'await-result', 2, at)).toBeUndefined();
    });

    it('looks again for an overdue result while something else is open', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 2 });
      await performUpTo(ledger, run, 'trigger');
      const { run: after, opened: again, ending } = await perform(ledger, run, 'await-result', overdue);
      expect(ending).toBe('retry');
      expect(again).toEqual([{ position: 0, name: 'await-result', attempt: 2, notBefore: overdue.until }]);
      expect(after).toMatchObject({ state: 'delivering', openSteps: 2 });
      expect(after).not.toHaveProperty('overdueAt');
      expect((await perform(ledger, run, 'batch 0', done)).run.state).toBe('awaiting-result');
      const { run: late } = await perform(ledger, run, 'await-result', overdue, 2);
      expect(late).toMatchObject({ state: 'awaiting-result', overdueAt: at });
    });

    it('is tallied with the first failed step in plan order and its last code, whichever failed first', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 6 });
      await perform(ledger, run, 'batch 1', failed);
      await perform(ledger, run, 'write', retry());
      await perform(ledger, run, 'write', { ...failed, evidence: { code: 'local-enospc' } }, 2);
      expect(await ledger.runs.tally('r1')).toMatchObject({
        failedSteps: 2,
        openSteps: 1,
        firstFailed: { name: 'write', code: 'local-enospc' },
      });
    });

    it('does not go on after a crash either, if a step of it had failed', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 2 });
      await perform(ledger, run, 'write', failed);
      const owner = await ledger.runs.takeOver('r1');
      expect(owner).toMatchObject({ state: 'delivering', openSteps: 1, failedSteps: 1 });
      expect((await ledger.runs.tally('r1')).openSteps).toBe(1);
      expect((await perform(ledger, owner, 'batch 0', done)).run.openSteps).toBe(0);
    });
  });
}

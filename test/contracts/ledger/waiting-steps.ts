import { describe, expect, it } from 'vitest';
import type { OpenedLedger } from '../ledger.js';
import { at, claimStep, done, failed, openNames, perform, record, retry, rightOf } from './days.js';
import { collectedFileRun, fileSteps, overdue, performUpTo } from './file-days.js';

export function describeWaitingSteps(opened: () => OpenedLedger): void {
  describe('steps that wait for their predecessor', () => {
    it('are opened one by one, each by its predecessor; batches wait for nothing', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 6 });
      expect(run).toMatchObject({ openSteps: 7, counts: { accepted: 12 } });
      for (const [index, step] of fileSteps.entries()) {
        expect(await openNames(ledger, 'r1')).toEqual([step, 'batch 0', 'batch 1']);
        const { opened: follow, run: after } = await perform(ledger, run, step, done);
        const next = fileSteps[index + 1];
        expect(follow).toEqual(next ? [{ position: index + 1, name: next, attempt: 1 }] : []);
        expect(after.openSteps).toBe(6 - index);
      }
    });

    it('say what the run waits for, once nothing else is open', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 1 });
      const until = at + 500;
      await perform(ledger, run, 'write', retry({ notBefore: until }));
      expect(await ledger.steps.findWait('r1', until - 1)).toBeUndefined();
      const claim = await claimStep(ledger, run, 'batch 0');
      expect(await ledger.steps.findWait('r1', until - 1)).toBeUndefined();
      await record(ledger, claim, done, at);
      expect(await ledger.steps.findWait('r1', until - 1)).toEqual({
        step: 'write',
        until,
        code: 'timeout',
      });
      expect(await ledger.steps.findWait('r1', until)).toBeUndefined();
      await ledger.runs.takeOver('r1');
      expect(await ledger.steps.findWait('r1', until - 1)).toBeUndefined();
    });

    it('stay closed while their predecessor is retried', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      const { run: after } = await perform(ledger, run, 'write', retry());
      expect(after.openSteps).toBe(5);
      expect(await openNames(ledger, 'r1')).toEqual(['write']);
      expect(await ledger.steps.claim(rightOf(run), 'upload', 1, at)).toBeUndefined();
    });

    it.each([
      ['write', 0],
      ['upload', 0],
      ['trigger', 0],
      ['await-result', 6],
      ['archive', 6],
    ] as const)('are not open after %s has failed, however far after it', async (step, delivered) => {
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
        overdueSteps: 0,
        firstFailed: { name: step, code: 'http-503', failureClass: 'retryable' },
      });
    });

    it('are not opened by an overdue step, which is not a failure', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 2 });
      await performUpTo(ledger, run, 'trigger');
      const { run: after, opened: follow } = await perform(ledger, run, 'await-result', overdue);
      expect(follow).toEqual([]);
      expect(after).toMatchObject({ openSteps: 1, failedSteps: 0, failuresInRow: 0 });
      expect(await openNames(ledger, 'r1')).toEqual(['batch 0']);
      const tally = await ledger.runs.tally('r1');
      expect(tally).toMatchObject({
        openSteps: 1,
        failedSteps: 0,
        overdueSteps: 1,
        delivered: 6,
        pending: 2,
      });
      expect(tally).not.toHaveProperty('firstFailed');
      expect(await ledger.steps.claim(rightOf(run), 'await-result', 2, at)).toBeUndefined();
      expect(await ledger.steps.claim(rightOf(run), 'archive', 1, at)).toBeUndefined();
    });

    it('count as open while their predecessor is in progress', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 2 });
      await claimStep(ledger, run, 'write');
      expect((await ledger.runs.get('r1')).openSteps).toBe(6);
      expect((await ledger.runs.tally('r1')).openSteps).toBe(6);
    });

    it('leave their bookings pending, as does an overdue step', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'upload');
      const { run: after } = await perform(ledger, run, 'trigger', overdue);
      expect(after.counts).toMatchObject({ delivered: 0, pending: 6 });
      expect(await ledger.runs.tally('r1')).toMatchObject({ delivered: 0, pending: 6, overdueSteps: 1 });
    });

    it('are tallied with the first failed step in plan order and its last code, whichever failed first', async () => {
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

    it('are not open after a crash either, if their predecessor had failed', async () => {
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

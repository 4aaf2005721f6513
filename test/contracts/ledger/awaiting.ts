import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import type { RunFailure } from '../../../src/rules/run.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  claimStep,
  collectedRun,
  done,
  failed,
  fatal,
  halved,
  interrupted,
  openNames,
  perform,
  record,
  refused,
  retry,
  rightOf,
} from './days.js';
import { collectedFileRun, overdue, performUpTo } from './file-days.js';

const spent: RunFailure = { class: 'retryable', code: 'steps-failed', message: 'upload failed' };

export function describeAwaiting(opened: () => OpenedLedger): void {
  describe('a run awaits its result', () => {
    it('once the call was accepted, if there is nothing to post', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      expect((await performUpTo(ledger, run, 'upload')).state).toBe('delivering');
      const { run: after } = await perform(ledger, run, 'trigger', done);
      expect(after).toMatchObject({
        state: 'awaiting-result',
        openSteps: 1,
        counts: { delivered: 6, pending: 0 },
      });
      await perform(ledger, run, 'await-result', done);
      expect((await perform(ledger, run, 'archive', done)).run).toMatchObject({
        state: 'awaiting-result',
        openSteps: 0,
      });
    });

    it('not before the last batch has ended, whatever its outcome', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 10 });
      await performUpTo(ledger, run, 'trigger');
      await perform(ledger, run, 'await-result', retry({ spendsTry: false }));
      await perform(ledger, run, 'batch 0', failed);
      await perform(ledger, run, 'batch 1', halved);
      await perform(ledger, run, 'batch 1.0', done);
      await perform(ledger, run, 'batch 1.1', retry());
      const last = await claimStep(ledger, run, 'batch 2');
      expect((await perform(ledger, run, 'batch 1.1', refused, 2)).run.state).toBe('delivering');
      expect((await record(ledger, last, done, at)).run.state).toBe('awaiting-result');
    });

    it('not before the call, although the batches have ended', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 2 });
      expect((await perform(ledger, run, 'batch 0', done)).run.state).toBe('delivering');
      expect((await performUpTo(ledger, run, 'trigger')).state).toBe('awaiting-result');
    });

    it('not when the result arrives before the last batch has ended', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 2 });
      await performUpTo(ledger, run, 'archive');
      expect((await perform(ledger, run, 'batch 0', done)).run).toMatchObject({
        state: 'delivering',
        openSteps: 0,
      });
    });

    it('not while a batch is in progress, although the result has been seen', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 2 });
      const batch = await claimStep(ledger, run, 'batch 0');
      expect(await performUpTo(ledger, run, 'await-result')).toMatchObject({
        state: 'delivering',
        openSteps: 2,
      });
      expect((await record(ledger, batch, done, at)).run.state).toBe('awaiting-result');
    });

    it('not if its call failed', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'upload');
      expect((await perform(ledger, run, 'trigger', failed)).run.state).toBe('delivering');
    });

    it('not if its upload failed', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 2 });
      await perform(ledger, run, 'write', done);
      await perform(ledger, run, 'upload', failed);
      expect((await perform(ledger, run, 'batch 0', done)).run.state).toBe('delivering');
    });

    it('never, if it is delivered by body', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: ['a', 'b'] });
      expect((await perform(ledger, run, 'batch 0', done)).run.state).toBe('delivering');
    });

    it('and its steps can be claimed and can end fatally', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'trigger');
      await perform(ledger, run, 'await-result', retry({ spendsTry: false }));
      const { run: after } = await perform(ledger, run, 'await-result', fatal, 2);
      expect(after).toMatchObject({ state: 'failed', failure: { class: 'fatal' }, openSteps: 1 });
      expect(await ledger.runs.takeOver('r1')).toMatchObject({ state: 'awaiting-result', openSteps: 1 });
    });
  });

  describe('taking over', () => {
    it('looks again for an overdue result', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'trigger');
      await perform(ledger, run, 'await-result', overdue);
      const owner = await ledger.runs.takeOver('r1');
      expect(owner).toMatchObject({ state: 'awaiting-result', openSteps: 1, counts: { delivered: 6 } });
      expect(owner).not.toHaveProperty('overdueAt');
      expect(await ledger.runs.get('r1')).toEqual(owner);
      expect(await ledger.steps.listOpen('r1', { limit: 9 })).toEqual([
        { position: 0, name: 'await-result', attempt: 2 },
      ]);
      await expect(ledger.runs.settle(rightOf(run), { state: 'succeeded', at })).rejects.toThrow(FencedError);
      await perform(ledger, owner, 'await-result', done, 2);
      expect((await perform(ledger, owner, 'archive', done)).run.openSteps).toBe(0);
    });

    it('lets no step wait any longer: the clock that set its time may have been wrong', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 2 });
      await performUpTo(ledger, run, 'trigger');
      await perform(ledger, run, 'await-result', retry({ spendsTry: false, notBefore: at + 60_000 }));
      await perform(ledger, run, 'batch 0', retry({ notBefore: at + 60_000 }));
      await ledger.runs.takeOver('r1');
      expect(await ledger.steps.listOpen('r1', { limit: 9 })).toEqual([
        { position: 0, name: 'await-result', attempt: 2 },
        { position: 1, name: 'batch 0', attempt: 2 },
      ]);
    });

    it('reopens failed steps of a failed run, and looks again for its overdue result', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 6 });
      await performUpTo(ledger, run, 'trigger');
      await perform(ledger, run, 'await-result', retry({ spendsTry: false }));
      await perform(ledger, run, 'batch 0', failed);
      await perform(ledger, run, 'batch 1', done);
      expect((await perform(ledger, run, 'await-result', overdue, 2)).run.overdueAt).toBe(at);
      await ledger.runs.settle(rightOf(run), { state: 'failed', failure: spent, at });
      const owner = await ledger.runs.takeOver('r1');
      expect(owner).toMatchObject({ state: 'delivering', openSteps: 2, failedSteps: 0 });
      expect(await openNames(ledger, 'r1')).toEqual(['await-result', 'batch 0']);
      expect((await claimStep(ledger, owner, 'await-result', 3)).step).toMatchObject({ waits: 0, tries: 0 });
      expect((await perform(ledger, owner, 'batch 0', done, 2)).run.state).toBe('awaiting-result');
    });

    it('reopens a failed upload', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await perform(ledger, run, 'write', done);
      await perform(ledger, run, 'upload', failed);
      await ledger.runs.settle(rightOf(run), { state: 'failed', failure: spent, at });
      const owner = await ledger.runs.takeOver('r1');
      expect(owner).toMatchObject({ state: 'delivering', openSteps: 1 });
      expect(await openNames(ledger, 'r1')).toEqual(['upload']);
      expect((await ledger.runs.tally('r1')).openSteps).toBe(1);
    });

    it.each(['await-result', 'archive'] as const)(
      'lets a run that failed in its %s await its result again',
      async (step) => {
        const { ledger } = opened();
        const run = await collectedFileRun(ledger, 'r1', { body: 2 });
        await perform(ledger, run, 'batch 0', done);
        await performUpTo(ledger, run, 'trigger');
        if (step === 'archive') await perform(ledger, run, 'await-result', done);
        await perform(ledger, run, step, failed);
        await ledger.runs.settle(rightOf(run), { state: 'failed', failure: spent, at });
        const owner = await ledger.runs.takeOver('r1');
        expect(owner).toMatchObject({
          state: 'awaiting-result',
          openSteps: 1,
          failedSteps: 0,
        });
        expect(owner).not.toHaveProperty('failure');
        expect(owner).not.toHaveProperty('finishedAt');
        expect(await openNames(ledger, 'r1')).toEqual([step]);
      },
    );

    it('lets a run that was stopped or killed while it waited continue to wait', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'trigger');
      await perform(ledger, run, 'await-result', interrupted);
      await claimStep(ledger, run, 'await-result', 2);
      const owner = await ledger.runs.takeOver('r1');
      expect(owner).toMatchObject({ state: 'awaiting-result', openSteps: 1, counts: { repeated: 0 } });
      expect(await openNames(ledger, 'r1')).toEqual(['await-result']);
    });
  });
}

import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import type { RunFailure } from '../../../src/rules/run.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  batchOf,
  chunkOf,
  claimStep,
  collectedRun,
  collectInto,
  done,
  failed,
  fatal,
  halved,
  look,
  newRun,
  openNames,
  perform,
  record,
  references,
  refused,
  retry,
  rightOf,
  startCollect,
} from './days.js';

export function describeTakingOver(opened: () => OpenedLedger): void {
  describe('taking a run over', () => {
    const spent: RunFailure = {
      class: 'retryable',
      code: 'steps-failed',
      message: '2 steps ran out of tries',
    };
    const tooManyRefused: RunFailure = {
      class: 'refused',
      code: 'too-many-refused',
      message: 'refused 2 of 9',
    };

    it('raises the token each time, and changes nothing else about an idle run', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const before = await look(ledger, 'r1');
      const { resumedAt, pausedMs, ...taken } = await ledger.runs.takeOver('r1');
      expect({ ...taken, pausedMs: 0 }).toEqual({ ...run, token: run.token + 1 });
      const again = await ledger.runs.takeOver('r1');
      const times = { resumedAt: again.resumedAt, pausedMs: again.pausedMs };
      expect(await look(ledger, 'r1')).toEqual({
        ...before,
        run: { ...run, ...times, token: run.token + 2 },
      });
      await perform(ledger, again, 'batch 0', done);
    });

    it('counts the time in which nobody worked on the run: since it failed, or was last worked on', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      await ledger.runs.settle(rightOf(run), { state: 'failed', failure: spent, at: at - 60_000 });
      const resumed = await ledger.runs.takeOver('r1');
      const first = Number(resumed.resumedAt);
      expect(resumed.pausedMs).toBe(first - (at - 60_000));
      // Its process dies before it does anything.
      const again = await ledger.runs.takeOver('r1');
      expect(again.pausedMs).toBe(resumed.pausedMs + Number(again.resumedAt) - first);
      await perform(ledger, again, 'batch 0', done);
      const ended = { reason: 'wrong export', at: Number(again.resumedAt) + 3_600_000 };
      await ledger.runs.abandon('r1', ended);
      expect(await ledger.runs.get('r1')).toMatchObject({ pausedMs: again.pausedMs + 3_600_000 });
    });

    it('reopens steps that were in progress, with their outcome unknown', async () => {
      const { ledger, reopen } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(8) });
      await perform(ledger, run, 'batch 0', retry());
      await claimStep(ledger, run, 'batch 0', 2);
      const other = await reopen();
      const owner = await other.runs.takeOver('r1');
      expect(owner).toMatchObject({ state: 'delivering', openSteps: 2, counts: { repeated: 0 } });
      expect(await other.steps.listOpen('r1', { limit: 10 })).toEqual([
        { position: 0, name: 'batch 0', attempt: 3 },
        { position: 1, name: 'batch 1', attempt: 1 },
      ]);
      const claim = await claimStep(other, owner, 'batch 0', 3);
      // The try stays spent, because the run had not failed.
      expect(claim).toMatchObject({ token: owner.token, step: { tries: 1, attempts: 2 } });
      expect((await other.runs.get('r1')).counts.repeated).toBe(4);
      await perform(other, owner, 'batch 1', done);
      expect((await other.runs.get('r1')).counts.repeated).toBe(4);
    });

    it('cancels an unfinished run for a reason, and fences whoever works on it', async () => {
      const { ledger, reopen } = opened();
      const run = await collectedRun(ledger, 'r1');
      const claim = await claimStep(ledger, run, 'batch 0');
      const other = await reopen();
      expect(await other.runs.abandon('r1', { reason: 'wrong export', at: at + 5 })).toBe(true);
      const cancelled = await other.runs.get('r1');
      expect(cancelled).toMatchObject({
        state: 'cancelled',
        cancelReason: 'wrong export',
        finishedAt: at + 5,
        token: run.token + 1,
      });
      await expect(record(ledger, claim, done, at + 6)).rejects.toThrow(FencedError);
      expect(await ledger.steps.claim({ runId: 'r1' }, 'batch 1', 1, at + 6)).toBeUndefined();
      expect(await other.runs.abandon('r1', { reason: 'again', at: at + 7 })).toBe(false);
      expect(await other.runs.get('r1')).toEqual(cancelled);
    });

    it('cancels a failed run, and leaves one that succeeded', async () => {
      const { ledger } = opened();
      for (const [id, state] of [
        ['r1', 'failed'],
        ['r2', 'succeeded'],
      ] as const) {
        const run = await collectedRun(ledger, id);
        await ledger.runs.settle(rightOf(run), { state, at, ...(state === 'failed' && { failure: spent }) });
      }
      expect(await ledger.runs.abandon('r1', { reason: 'why', at })).toBe(true);
      expect(await ledger.runs.get('r1')).toMatchObject({ state: 'cancelled', cancelReason: 'why' });
      expect(await ledger.runs.abandon('r2', { reason: 'why', at })).toBe(false);
      expect(await ledger.runs.get('r2')).toMatchObject({ state: 'succeeded' });
    });

    it('keeps an interrupted attempt as evidence that the step may have been sent', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: ['BR-1'] });
      await ledger.steps.claim(rightOf(run), 'batch 0', 1, at + 11);
      const owner = await ledger.runs.takeOver('r1');
      await perform(ledger, owner, 'batch 0', done, 2);
      const [trace] = await ledger.bookings.trace('BR-1');
      expect(trace).toMatchObject({
        attempts: [
          { step: 'batch 0', attempt: 1, outcome: 'interrupted', startedAt: at + 11 },
          { step: 'batch 0', attempt: 2, outcome: 'done', code: 'ok' },
        ],
      });
    });

    it('refuses to let the old owner record, claim or settle when it wakes', async () => {
      const { ledger, reopen } = opened();
      const run = await collectedRun(ledger, 'r1');
      const asleep = await claimStep(ledger, run, 'batch 0');
      const other = await reopen();
      const owner = await other.runs.takeOver('r1');
      const before = await look(other, 'r1');
      for (const ending of [done, refused, failed, halved, retry(), fatal]) {
        await expect(record(ledger, asleep, ending, at)).rejects.toThrow(FencedError);
      }
      expect(await ledger.steps.claim(rightOf(run), 'batch 0', 2, at)).toBeUndefined();
      expect(await ledger.steps.claim(rightOf(run), 'batch 1', 1, at)).toBeUndefined();
      await expect(ledger.runs.settle(rightOf(run), { state: 'succeeded', at })).rejects.toThrow(FencedError);
      expect(await look(other, 'r1')).toEqual(before);
      // Nor once the new owner performs the same step.
      await claimStep(other, owner, 'batch 0', 2);
      await expect(record(ledger, asleep, done, at)).rejects.toThrow(FencedError);
      expect((await other.runs.get('r1')).counts.delivered).toBe(0);
    });

    it('gives fresh tries to the failed and open steps of a failed run', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(17) });
      await perform(ledger, run, 'batch 0', done);
      for (const step of ['batch 1', 'batch 2']) {
        await perform(ledger, run, step, retry());
        await perform(ledger, run, step, failed, 2);
      }
      await perform(ledger, run, 'batch 3', retry());
      await perform(ledger, run, 'batch 4', refused);
      await ledger.runs.settle(rightOf(run), { state: 'failed', failure: spent, at });
      expect(await ledger.runs.get('r1')).toMatchObject({ openSteps: 1, failedSteps: 2, failuresInRow: 0 });

      const owner = await ledger.runs.takeOver('r1');
      expect(owner).toMatchObject({
        state: 'delivering',
        openSteps: 3,
        failedSteps: 0,
        failuresInRow: 0,
        counts: { delivered: 4, refused: 1, pending: 12 },
      });
      expect(owner).not.toHaveProperty('failure');
      expect(owner).not.toHaveProperty('finishedAt');
      expect(await ledger.steps.listOpen('r1', { limit: 10 })).toEqual([
        { position: 1, name: 'batch 1', attempt: 3 },
        { position: 2, name: 'batch 2', attempt: 3 },
        { position: 3, name: 'batch 3', attempt: 2 },
      ]);
      expect((await claimStep(ledger, owner, 'batch 1', 3)).step).toMatchObject({ tries: 0, waits: 0 });
      expect((await claimStep(ledger, owner, 'batch 3', 2)).step).toMatchObject({ tries: 0, waits: 0 });
    });

    it('counts as repeated what failed with an unknown outcome and is sent again', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(6) });
      await perform(ledger, run, 'batch 0', { ...failed, outcomeUnknown: true });
      await perform(ledger, run, 'batch 1', { ...failed, outcomeUnknown: false });
      await ledger.runs.settle(rightOf(run), { state: 'failed', failure: spent, at });
      const owner = await ledger.runs.takeOver('r1');
      expect(owner.counts.repeated).toBe(0);
      await perform(ledger, owner, 'batch 0', done, 2);
      await perform(ledger, owner, 'batch 1', done, 2);
      expect((await ledger.runs.get('r1')).counts.repeated).toBe(4);
    });

    it('resumes after a fatal answer, including what was in flight then', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      await claimStep(ledger, run, 'batch 1');
      await perform(ledger, run, 'batch 0', fatal);
      const owner = await ledger.runs.takeOver('r1');
      expect(owner).toMatchObject({ state: 'delivering', openSteps: 3 });
      expect(owner).not.toHaveProperty('failure');
      await perform(ledger, owner, 'batch 0', done, 2);
      expect((await ledger.runs.get('r1')).counts.repeated).toBe(0);
      await perform(ledger, owner, 'batch 1', done, 2);
      expect((await ledger.runs.get('r1')).counts.repeated).toBe(4);
    });

    it('reopens refused steps if too many refusals had stopped the run', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(9) });
      await perform(ledger, run, 'batch 0', halved);
      await perform(ledger, run, 'batch 0.0', refused);
      await perform(ledger, run, 'batch 1', failed);
      await perform(ledger, run, 'batch 2', refused);
      await ledger.runs.settle(rightOf(run), { state: 'failed', failure: tooManyRefused, at });
      expect((await ledger.runs.get('r1')).counts).toMatchObject({ refused: 3, pending: 6 });

      const owner = await ledger.runs.takeOver('r1');
      expect(owner).toMatchObject({ openSteps: 4, failedSteps: 0, counts: { refused: 0, pending: 9 } });
      expect(await openNames(ledger, 'r1')).toEqual(['batch 0.0', 'batch 0.1', 'batch 1', 'batch 2']);
      expect(await ledger.bookings.listRefused('r1', 10)).toEqual([]);
      await perform(ledger, owner, 'batch 0.0', done, 2);
      await perform(ledger, owner, 'batch 2', refused, 2);
      expect((await ledger.runs.get('r1')).counts).toMatchObject({ delivered: 2, refused: 1, pending: 6 });
    });

    it('returns a run that failed while collecting to collecting', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      const collect = await startCollect(ledger, run);
      await collect.store(chunkOf({ batches: [batchOf(0, ['a'])], duplicates: 1 }));
      const failure: RunFailure = { class: 'data', code: 'too-many-rejects', message: 'too many rejects' };
      await ledger.runs.settle(rightOf(run), { state: 'failed', failure, at });
      const owner = await ledger.runs.takeOver('r1');
      expect(owner.state).toBe('collecting');
      expect(owner).not.toHaveProperty('failure');
      const collected = await collectInto(ledger, owner, ['b', 'c']);
      expect(collected).toMatchObject({
        state: 'delivering',
        counts: { read: 2, accepted: 2, duplicates: 0 },
      });
    });

    it.each(['succeeded', 'cancelled'] as const)('leaves a %s run ended', async (state) => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      await perform(ledger, run, 'batch 0', failed);
      await ledger.runs.settle(rightOf(run), { state, at });
      const owner = await ledger.runs.takeOver('r1');
      expect(owner).toMatchObject({ state, failedSteps: 1 });
      expect(await ledger.steps.claim(rightOf(owner), 'batch 1', 1, at)).toBeUndefined();
    });
  });
}

import { describe, expect, it } from 'vitest';
import type { OpenStep } from '../../../src/rules/step.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  batchOf,
  chunkOf,
  claimStep,
  collectedRun,
  done,
  failed,
  halved,
  newRun,
  openNames,
  perform,
  record,
  references,
  retry,
  rightOf,
  startCollect,
} from './days.js';
import { collectedFileRun } from './file-days.js';

export function describeClaiming(opened: () => OpenedLedger): void {
  describe('claiming a step', () => {
    it('returns the step with its slice, its attempt and the token', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      expect(await ledger.steps.claim(rightOf(run), 'batch 2', 1, at + 2)).toMatchObject({
        attempt: 1,
        token: run.token,
        claimedAt: at + 2,
        step: {
          runId: 'r1',
          name: 'batch 2',
          kind: 'batch',
          bookings: 2,
          slice: { stream: 'posted', batch: 2, first: 0, bookings: 2 },
          tries: 0,
          waits: 0,
        },
      });
      expect(await openNames(ledger, 'r1')).toEqual(['batch 0', 'batch 1']);
      expect((await ledger.runs.get('r1')).openSteps).toBe(3);
    });

    it('returns the current run, and the lines of the step’s batch', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const first = await claimStep(ledger, run, 'batch 0');
      expect(first.run).toEqual(await ledger.runs.get('r1'));
      expect(first.lines).toEqual(await ledger.bookings.readBatch('r1', 'posted', 0));
      await record(ledger, first, retry({ outcomeUnknown: true }), at);
      const again = await claimStep(ledger, run, 'batch 0', 2);
      expect(again.run).toEqual(await ledger.runs.get('r1'));
      expect(again.run.counts.repeated).toBe(4);
    });

    it('uses the current token if none is given, and claims no step of an ended run or of another ledger', async () => {
      const { ledger } = opened();
      await collectedRun(ledger, 'r1');
      const { token } = await ledger.runs.takeOver('r1');
      const claim = await ledger.steps.claim({ runId: 'r1' }, 'batch 0', 1, at);
      expect(claim).toMatchObject({ token, run: { token }, step: { name: 'batch 0' } });
      if (claim) await record(ledger, claim, done, at);
      await ledger.runs.settle({ runId: 'r1', token }, { state: 'failed', at });
      expect(await ledger.steps.claim({ runId: 'r1' }, 'batch 1', 1, at)).toBeUndefined();
      expect(await ledger.steps.claim({ runId: 'nobody' }, 'batch 1', 1, at)).toBeUndefined();
    });

    it('claims a step once', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      await claimStep(ledger, run, 'batch 0');
      expect(await ledger.steps.claim(rightOf(run), 'batch 0', 1, at)).toBeUndefined();
      expect(await ledger.steps.claim(rightOf(run), 'batch 0', 2, at)).toBeUndefined();
    });

    it('gives each step to exactly one of two processes that race for it', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      const run = await collectedRun(ledger, 'r1', { bookings: references(80) });
      for (const step of await openNames(ledger, 'r1')) {
        const racers = step.endsWith('0') ? [ledger, other] : [other, ledger];
        const claims = await Promise.all(racers.map((racer) => racer.steps.claim(rightOf(run), step, 1, at)));
        expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
      }
    });

    it('refuses a stale attempt, a premature one, and steps that do not exist or have ended', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      await perform(ledger, run, 'batch 0', retry());
      expect(await ledger.steps.claim(rightOf(run), 'batch 0', 1, at)).toBeUndefined();
      expect(await ledger.steps.claim(rightOf(run), 'batch 0', 3, at)).toBeUndefined();
      await perform(ledger, run, 'batch 0', done, 2);
      expect(await ledger.steps.claim(rightOf(run), 'batch 0', 3, at)).toBeUndefined();
      expect(await ledger.steps.claim(rightOf(run), 'batch 9', 1, at)).toBeUndefined();
      expect(await ledger.steps.claim({ runId: 'nobody', token: 1 }, 'batch 0', 1, at)).toBeUndefined();
    });

    it('refuses a step whose predecessor is not done', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      expect(await ledger.steps.claim(rightOf(run), 'upload', 1, at)).toBeUndefined();
      const claim = await claimStep(ledger, run, 'write');
      expect(await ledger.steps.claim(rightOf(run), 'upload', 1, at)).toBeUndefined();
      const recorded = await record(ledger, claim, done, at);
      expect(recorded.opened).toEqual([{ position: 0, name: 'upload', attempt: 1 }]);
      expect(recorded.run.openSteps).toBe(1);
      expect(await ledger.steps.claim(rightOf(run), 'trigger', 1, at)).toBeUndefined();
      const failure = await perform(ledger, run, 'upload', failed);
      expect(failure.opened).toEqual([]);
      expect(await ledger.steps.claim(rightOf(run), 'trigger', 1, at)).toBeUndefined();
      expect(failure.run).toMatchObject({ openSteps: 0, failedSteps: 1 });
    });

    it('refuses every step of a run that is settled or not yet planned', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      await ledger.runs.settle(rightOf(run), { state: 'failed', at });
      expect(await ledger.steps.claim(rightOf(run), 'batch 0', 1, at)).toBeUndefined();
      const next = await ledger.runs.create(newRun('r2'));
      const collect = await startCollect(ledger, next);
      await collect.store(chunkOf({ batches: [batchOf(0, ['a'])] }));
      expect(await ledger.steps.claim(rightOf(next), 'batch 0', 1, at)).toBeUndefined();
    });
  });

  describe('listing open steps', () => {
    it('returns them page by page, none missing and none twice', async () => {
      const { ledger } = opened();
      await collectedRun(ledger, 'r1', { bookings: references(46) });
      const names: string[] = [];
      let after: OpenStep | undefined;
      do {
        const page = await ledger.steps.listOpen('r1', { limit: 5, ...(after && { after }) });
        expect(page.length).toBeLessThanOrEqual(5);
        names.push(...page.map(({ name }) => name));
        after = page.at(-1);
      } while (after && names.length < 1_000);
      expect(names).toEqual(await openNames(ledger, 'r1'));
    });

    it('misses and repeats nothing when steps are halved between the pages', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(40) });
      const listed: string[] = [];
      const followed: string[] = [];
      const halve = async (step: string) =>
        followed.push(...(await perform(ledger, run, step, halved)).opened.map(({ name }) => name));
      const between = [
        ['batch 0', 'batch 2', 'batch 3'],
        ['batch 0.1', 'batch 2.0', 'batch 4'],
        ['batch 9', 'batch 3.1'],
        ['batch 9.0', 'batch 9.1'],
      ];
      let after: OpenStep | undefined;
      do {
        const page = await ledger.steps.listOpen('r1', { limit: 3, ...(after && { after }) });
        listed.push(...page.map(({ name }) => name));
        after = page.at(-1);
        for (const step of between.shift() ?? []) await halve(step);
      } while (after && listed.length < 1_000);
      expect(new Set(listed).size).toBe(listed.length);
      const known = new Set([...listed, ...followed]);
      expect((await openNames(ledger, 'r1')).filter((name) => !known.has(name))).toEqual([]);
    });
  });
}

import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  claimStep,
  collectedRun,
  done,
  failed,
  fatal,
  interrupted,
  perform,
  record,
  refused,
  retry,
  rightOf,
  startCollect,
} from './days.js';
import { collectedFileRun, overdue, performUpTo } from './file-days.js';

export function describeFindings(opened: () => OpenedLedger): void {
  describe('what is known about the run’s file', () => {
    it('grows with each ending: new facts replace old ones, the rest stays', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      expect(run).not.toHaveProperty('file');
      const uploaded = { name: '20112026.csv', size: 99, modifiedAt: at };
      const written = await perform(ledger, run, 'write', {
        ...done,
        file: { rows: 6, bytes: 99, sha256: 'ab' },
      });
      expect(written.run.file).toEqual({ rows: 6, bytes: 99, sha256: 'ab' });
      await perform(ledger, run, 'upload', { ...done, file: { remotePath: 'x/1.csv', uploaded } });
      const { run: again } = await perform(ledger, run, 'trigger', {
        ...done,
        file: { uploaded: { ...uploaded, modifiedAt: at + 1 }, triggeredAt: at + 2 },
      });
      const known = {
        rows: 6,
        bytes: 99,
        sha256: 'ab',
        remotePath: 'x/1.csv',
        uploaded: { ...uploaded, modifiedAt: at + 1 },
        triggeredAt: at + 2,
      };
      expect(again.file).toEqual(known);
      await perform(ledger, run, 'await-result', retry({ spendsTry: false }));
      expect((await ledger.runs.get('r1')).file).toEqual(known);
      expect((await ledger.runs.takeOver('r1')).file).toEqual(known);
    });

    it.each([retry(), failed, overdue, fatal, interrupted])(
      'grows even with an ending other than done (%#)',
      async (ending) => {
        const { ledger } = opened();
        const run = await collectedFileRun(ledger, 'r1');
        const recorded = await perform(ledger, run, 'write', { ...ending, file: { bytes: 7 } });
        expect(recorded.run.file).toEqual({ bytes: 7 });
      },
    );

    it('is not changed by an owner that lost the run', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      const claim = await claimStep(ledger, run, 'write');
      await ledger.runs.takeOver('r1');
      await expect(record(ledger, claim, { ...done, file: { bytes: 7 } }, at)).rejects.toThrow(FencedError);
      expect(await ledger.runs.get('r1')).not.toHaveProperty('file');
    });

    it('stays when somebody tries to collect the run again', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await perform(ledger, run, 'write', { ...done, file: { bytes: 7 } });
      await expect(startCollect(ledger, run)).rejects.toThrow(RangeError);
      expect((await ledger.runs.get('r1')).file).toEqual({ bytes: 7 });
    });
  });

  describe('a claim', () => {
    it('says whether its action may already have happened', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'upload');
      const tellsOf = async (attempt: number) => {
        const claim = await claimStep(ledger, run, 'trigger', attempt);
        return { claim, mayRepeat: claim.mayRepeat };
      };
      const first = await tellsOf(1);
      await record(ledger, first.claim, retry({ outcomeUnknown: true }), at);
      const second = await tellsOf(2);
      await record(ledger, second.claim, retry({ outcomeUnknown: false }), at);
      const third = await tellsOf(3);
      await record(ledger, third.claim, interrupted, at);
      const fourth = await tellsOf(4);
      expect([first, second, third, fourth].map(({ mayRepeat }) => mayRepeat)).toEqual([
        false,
        true,
        true,
        true,
      ]);
      const owner = await ledger.runs.takeOver('r1');
      expect((await claimStep(ledger, owner, 'trigger', 5)).mayRepeat).toBe(true);
    });

    it('is held until its step is recorded or taken over, or its run replaced', async () => {
      const { ledger, reopen } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 4 });
      const write = await claimStep(ledger, run, 'write');
      const batch = await claimStep(ledger, run, 'batch 0');
      expect(await (await reopen()).steps.holdsClaim(write)).toBe(true);
      await record(ledger, write, retry(), at);
      expect(await ledger.steps.holdsClaim(write)).toBe(false);
      expect(await ledger.steps.holdsClaim(batch)).toBe(true);
      const again = await claimStep(ledger, run, 'write', 2);
      expect(await ledger.steps.holdsClaim(write)).toBe(false);
      const owner = await ledger.runs.takeOver('r1');
      expect(await ledger.steps.holdsClaim(batch)).toBe(false);
      expect(await ledger.steps.holdsClaim(again)).toBe(false);
      const last = await claimStep(ledger, owner, 'write', 3);
      expect(await ledger.steps.holdsClaim(again)).toBe(false);
      expect(await ledger.steps.holdsClaim(last)).toBe(true);
      await ledger.runs.create({ ...run, id: 'r2', replaces: 'r1' });
      expect(await ledger.steps.holdsClaim(last)).toBe(false);
    });
  });

  describe('an attempt that sent nothing', () => {
    it('no longer counts its bookings as repeated, and leaves open whether the earlier call arrived', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'upload');
      await perform(ledger, run, 'trigger', retry({ outcomeUnknown: true }));
      const claim = await claimStep(ledger, run, 'trigger', 2);
      expect((await ledger.runs.get('r1')).counts.repeated).toBe(6);
      const { run: after } = await record(ledger, claim, { ...retry(), nothingSent: true }, at);
      expect(after.counts.repeated).toBe(0);
      const next = await claimStep(ledger, run, 'trigger', 3);
      expect(next.mayRepeat).toBe(true);
      expect((await ledger.runs.get('r1')).counts.repeated).toBe(6);
      const { run: over } = await record(ledger, next, done, at);
      expect(over.counts).toMatchObject({ repeated: 6, delivered: 6 });
    });

    it('is done if the earlier call arrived, and nothing counts as repeated', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'upload');
      await perform(ledger, run, 'trigger', interrupted);
      const { run: after } = await perform(ledger, run, 'trigger', { ...done, nothingSent: true }, 2);
      expect(after.counts).toMatchObject({ repeated: 0, delivered: 6, pending: 0 });
      expect(after.state).toBe('awaiting-result');
    });

    it.each([
      ['failed', failed],
      ['fatal', fatal],
    ])('and %s leaves it open for the run that is resumed', async (_, ending) => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'upload');
      await perform(ledger, run, 'trigger', interrupted);
      await perform(ledger, run, 'trigger', { ...ending, nothingSent: true }, 2);
      await ledger.runs.settle(rightOf(run), { state: 'failed', at });
      const owner = await ledger.runs.takeOver('r1');
      expect(owner.counts.repeated).toBe(0);
      expect((await claimStep(ledger, owner, 'trigger', 3)).mayRepeat).toBe(true);
      expect((await ledger.runs.get('r1')).counts.repeated).toBe(6);
    });

    it('changes nothing if no earlier call can have arrived', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'upload');
      const { run: after } = await perform(ledger, run, 'trigger', { ...retry(), nothingSent: true });
      expect(after.counts.repeated).toBe(0);
      expect((await claimStep(ledger, run, 'trigger', 2)).mayRepeat).toBe(false);
      expect((await ledger.runs.get('r1')).counts.repeated).toBe(0);
    });
  });

  describe('the attempts of a step', () => {
    it('are listed in order, with everything recorded about them, and without those of other steps', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await collectedRun(ledger, 'other', { day: '2026-11-19' });
      await performUpTo(ledger, run, 'upload');
      expect(await ledger.steps.listAttempts('r1', 'trigger')).toEqual([]);
      for (let attempt = 1; attempt <= 11; attempt += 1)
        await perform(ledger, run, 'trigger', retry({ outcomeUnknown: true }), attempt);
      await perform(ledger, run, 'trigger', refused, 12);
      const attempts = await ledger.steps.listAttempts('r1', 'trigger');
      expect(attempts.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
      expect(attempts.at(-1)).toEqual({
        step: 'trigger',
        attempt: 12,
        startedAt: at,
        endedAt: at,
        outcome: 'failed',
        ...refused.evidence,
      });
      expect(await ledger.steps.listAttempts('r1', 'upload')).toHaveLength(1);
      expect(await ledger.steps.listAttempts('other', 'trigger')).toEqual([]);
      await expect(ledger.steps.listAttempts('nobody', 'trigger')).rejects.toThrow(RangeError);
    });
  });
}

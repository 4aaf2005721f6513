import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  batchSize,
  claimStep,
  collectedRun,
  decideFor,
  done,
  type Found,
  failed,
  fatal,
  halved,
  interrupted,
  lineOf,
  look,
  openNames,
  perform,
  record,
  references,
  refused,
  retry,
  rightOf,
} from './days.js';

export function describeRecording(opened: () => OpenedLedger): void {
  describe('recording the ending of an attempt', () => {
    it('done: the bookings count as delivered', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const { run: after, opened: follow } = await perform(ledger, run, 'batch 0', done);
      expect(after).toMatchObject({ openSteps: 2, counts: { accepted: 10, delivered: 4, pending: 6 } });
      expect(follow).toEqual([]);
      expect(await ledger.runs.get('r1')).toEqual(after);
    });

    it('refused: the bookings count as refused, and are listed with their line and the code', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(9) });
      const { run: after } = await perform(ledger, run, 'batch 2', refused);
      expect(after).toMatchObject({ openSteps: 2, counts: { refused: 1, delivered: 0, pending: 8 } });
      expect(await ledger.bookings.listRefused('r1', 10)).toEqual([
        { step: 'batch 2', code: 'code-2009', stream: 'posted', batch: 2, row: 0, line: lineOf('BR-8') },
      ]);
    });

    it('failed: the step has ended, its bookings stay pending', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const { run: after, opened: follow } = await perform(ledger, run, 'batch 0', failed);
      expect(after).toMatchObject({
        openSteps: 2,
        failedSteps: 1,
        failuresInRow: 1,
        counts: { pending: 10 },
      });
      expect(follow).toEqual([]);
      expect(await openNames(ledger, 'r1')).toEqual(['batch 1', 'batch 2']);
    });

    it('halved: two steps take its place, at its position', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(7) });
      const { run: after, opened: follow } = await perform(ledger, run, 'batch 1', halved);
      expect(follow).toEqual([
        { position: 1, name: 'batch 1.0', attempt: 1 },
        { position: 1, name: 'batch 1.1', attempt: 1 },
      ]);
      expect(after).toMatchObject({ openSteps: 3, failedSteps: 0, counts: { pending: 7 } });
      expect(await openNames(ledger, 'r1')).toEqual(['batch 0', 'batch 1.0', 'batch 1.1']);
      expect((await claimStep(ledger, run, 'batch 1.0')).step).toMatchObject({
        slice: { batch: 1, first: 0, bookings: 2 },
      });
      expect((await claimStep(ledger, run, 'batch 1.1')).step).toMatchObject({
        slice: { batch: 1, first: 2, bookings: 1 },
      });
      expect(await ledger.steps.claim(rightOf(run), 'batch 1', 2, at)).toBeUndefined();
    });

    it('retry: the step is open again, not before its time, with one more try or wait spent', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const first = await perform(ledger, run, 'batch 0', retry({ notBefore: at + 500 }));
      const again = { position: 0, name: 'batch 0', attempt: 2, notBefore: at + 500 };
      expect(first.opened).toEqual([again]);
      expect(first.run).toMatchObject({
        openSteps: 3,
        failuresInRow: 1,
        counts: { pending: 10, repeated: 0 },
      });
      expect(await ledger.steps.listOpen('r1', { limit: 1 })).toEqual([again]);
      const second = await claimStep(ledger, run, 'batch 0', 2);
      expect(second.step).toMatchObject({ tries: 1, waits: 0, attempts: 1 });
      await record(ledger, second, retry({ spendsTry: false }), at);
      expect((await claimStep(ledger, run, 'batch 0', 3)).step).toMatchObject({
        tries: 1,
        waits: 1,
        attempts: 2,
      });
    });

    it('counts as repeated only what is sent again after a call with an unknown outcome', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const repeated = async () => (await ledger.runs.get('r1')).counts.repeated;
      await perform(ledger, run, 'batch 0', retry({ outcomeUnknown: true }));
      expect(await repeated()).toBe(0);
      // Clearly not done: this call repeated nothing, but the first one may still have arrived.
      await perform(ledger, run, 'batch 0', retry({ outcomeUnknown: false }), 2);
      expect(await repeated()).toBe(0);
      await perform(ledger, run, 'batch 0', retry({ outcomeUnknown: true }), 3);
      expect(await repeated()).toBe(4);
      await perform(ledger, run, 'batch 0', done, 4);
      expect(await repeated()).toBe(4);
      await perform(ledger, run, 'batch 2', interrupted);
      await claimStep(ledger, run, 'batch 2', 2);
      expect(await repeated()).toBe(6);
    });

    it('interrupted: the step is open again at once, with no try or wait spent', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const { run: after } = await perform(ledger, run, 'batch 0', interrupted);
      expect(after).toMatchObject({ state: 'delivering', openSteps: 3, failuresInRow: 0 });
      expect((await ledger.steps.listOpen('r1', { limit: 1 }))[0]).toEqual({
        position: 0,
        name: 'batch 0',
        attempt: 2,
      });
      expect((await claimStep(ledger, run, 'batch 0', 2)).step).toMatchObject({ tries: 0, waits: 0 });
    });

    it('fatal: fails the run in the same transaction and leaves the step open', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const { run: after, opened: follow } = await perform(ledger, run, 'batch 0', fatal);
      expect(after).toMatchObject({
        state: 'failed',
        finishedAt: at,
        openSteps: 3,
        failedSteps: 0,
        failure: {
          class: 'fatal',
          code: 'http-403',
          message:
            'batch 0 of run r1 ended with http-403, which retrying cannot fix. Check apiKey. Then run 2026-11-20 again.',
        },
      });
      expect(follow).toEqual([]);
      expect(await openNames(ledger, 'r1')).toEqual(['batch 0', 'batch 1', 'batch 2']);
      expect(await ledger.steps.claim(rightOf(run), 'batch 2', 1, at)).toBeUndefined();
      expect(await ledger.runs.settle(rightOf(run), { state: 'succeeded', at })).toBe(false);
    });

    it('counts what was in flight when a fatal answer stopped the run, and keeps the first reason for the failure', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const accepted = await claimStep(ledger, run, 'batch 1');
      const turnedDown = await claimStep(ledger, run, 'batch 2');
      const { run: stopped } = await perform(ledger, run, 'batch 0', fatal);
      await record(ledger, turnedDown, { ...fatal, evidence: { code: 'http-404' }, advice: 'later' }, at + 1);
      const { run: after } = await record(ledger, accepted, done, at + 2);
      expect(after).toEqual({
        ...stopped,
        openSteps: 2,
        counts: { ...stopped.counts, delivered: 4, pending: 6 },
      });
      expect(await openNames(ledger, 'r1')).toEqual(['batch 0', 'batch 2']);
    });

    it('counts failed tries in a row until a batch gets an answer', async () => {
      const { ledger } = opened();
      const found: [Found, number][] = [
        [failed, 1],
        [retry(), 2],
        [retry({ spendsTry: false }), 2],
        [failed, 3],
        [done, 0],
        [failed, 1],
        [refused, 0],
        [failed, 1],
        [halved, 0],
        [failed, 1],
        [interrupted, 1],
        [failed, 2],
      ];
      const run = await collectedRun(ledger, 'r1', { bookings: references(found.length * batchSize) });
      for (const [index, [outcome, expected]] of found.entries()) {
        const recorded = await perform(ledger, run, `batch ${index}`, outcome);
        expect(recorded.run.failuresInRow, `after ending ${index}`).toBe(expected);
      }
    });

    it.each([done, refused, failed, halved, retry(), fatal, interrupted])(
      'refuses to record twice under one claim (%#)',
      async (ending) => {
        const { ledger } = opened();
        const run = await collectedRun(ledger, 'r1');
        const claim = await claimStep(ledger, run, 'batch 0');
        await record(ledger, claim, ending, at);
        const before = await look(ledger, 'r1');
        await expect(record(ledger, claim, done, at)).rejects.toThrow(FencedError);
        expect(await look(ledger, 'r1')).toEqual(before);
      },
    );

    it('refuses to record under the claim of an earlier attempt', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const first = await claimStep(ledger, run, 'batch 0');
      await record(ledger, first, retry(), at);
      await claimStep(ledger, run, 'batch 0', 2);
      await expect(record(ledger, first, done, at)).rejects.toThrow(FencedError);
      expect((await ledger.runs.get('r1')).counts.delivered).toBe(0);
    });

    it('halves completely or not at all', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const claim = await claimStep(ledger, run, 'batch 0');
      const before = await look(ledger, 'r1');
      await expect(
        ledger.steps.record(claim, halved, at, (attempted) => {
          const change = decideFor(halved)(attempted);
          return { ...change, inserts: change.inserts.map((half) => ({ ...half, name: 'batch 1' })) };
        }),
      ).rejects.toThrow();
      expect(await look(ledger, 'r1')).toEqual(before);
      await record(ledger, claim, done, at);
    });
  });
}

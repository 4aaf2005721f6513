import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import { findWait } from '../../../src/ledger/steps.js';
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
  lineOf,
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
import { collectedFileRun, overdue, performUpTo } from './file-days.js';

/** What histories cannot tell: several processes, several runs, and the clock. */
export function describeSteps(opened: () => OpenedLedger): void {
  describe('claiming a step', () => {
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

    it('uses the current token if none is given, and claims nothing of another ledger, of a run without a plan, or whose result is overdue', async () => {
      const { ledger } = opened();
      await collectedRun(ledger, 'r1');
      const { token } = await ledger.runs.takeOver('r1');
      expect(await ledger.steps.claim({ runId: 'r1', token: token - 1 }, 'batch 0', 1, at)).toBeUndefined();
      expect(await ledger.steps.claim({ runId: 'r1' }, 'batch 0', 1, at)).toMatchObject({ token });
      expect(await ledger.steps.claim({ runId: 'nobody' }, 'batch 1', 1, at)).toBeUndefined();
      const next = await ledger.runs.create(newRun('r2', { day: '2026-11-21' }));
      await (await startCollect(ledger, next)).store(chunkOf({ batches: [batchOf(0, ['a'])] }));
      expect(await ledger.steps.claim(rightOf(next), 'batch 0', 1, at)).toBeUndefined();
      const late = await collectedFileRun(ledger, 'r3', { day: '2026-11-19' });
      await performUpTo(ledger, late, 'trigger');
      await perform(ledger, late, 'await-result', overdue);
      expect(await ledger.steps.claim(rightOf(late), 'await-result', 2, at)).toBeUndefined();
    });
  });

  describe('open steps', () => {
    it('are listed once, and none is missed, when steps are halved between the pages', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(48) });
      expect(await openNames(ledger, 'r1')).toEqual(Array.from({ length: 12 }, (_, n) => `batch ${n}`));
      const listed: string[] = [];
      const followed: string[] = [];
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
        for (const step of between.shift() ?? [])
          followed.push(...(await perform(ledger, run, step, halved)).opened.map(({ name }) => name));
      } while (after && listed.length < 1_000);
      expect(new Set(listed).size).toBe(listed.length);
      const known = new Set([...listed, ...followed]);
      const open = await openNames(ledger, 'r1');
      expect(open.filter((name) => !known.has(name))).toEqual([]);
      // Halves share their place in the plan.
      const singly: string[] = [];
      for (let last: OpenStep | undefined; singly.length < open.length; singly.push(last?.name ?? ''))
        [last] = await ledger.steps.listOpen('r1', { limit: 1, ...(last && { after: last }) });
      expect(singly).toEqual(open);
    });

    it('are what the run waits for, once nothing else is open', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 6 });
      const until = at + 500;
      const waitAt = async (now: number) => findWait(await ledger.steps.readOpenWork('r1', now));
      await perform(ledger, run, 'write', retry({ notBefore: until }));
      const claim = await claimStep(ledger, run, 'batch 0');
      expect(await waitAt(until - 1)).toBeUndefined();
      await record(ledger, claim, done, at);
      await perform(ledger, run, 'batch 1', retry({ notBefore: until + 500 }));
      expect(await waitAt(until - 1)).toMatchObject({ step: 'write', until, code: 'timeout' });
      expect(await waitAt(until)).toBeUndefined();
      await perform(ledger, run, 'write', done, 2);
      await perform(ledger, run, 'upload', done);
      expect(await ledger.steps.readOpenWork('r1', until)).toMatchObject({
        ...{ ready: 1, delayed: 1, next: { step: 'batch 1', until: until + 500 } },
      });
    });
  });

  describe('recording what became of an attempt', () => {
    it('lets a file run wait for its result once its last batch is accepted, too', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { body: 1 });
      await performUpTo(ledger, run, 'trigger');
      expect((await ledger.runs.get('r1')).state).toBe('delivering');
      await perform(ledger, run, 'batch 0', done);
      expect((await ledger.runs.get('r1')).state).toBe('awaiting-result');
    });

    it('keeps what the service said at the end', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      await perform(ledger, run, 'batch 1', { ...retry(), evidence: { code: 'http-500', answer: 'Sorry' } });
      await perform(ledger, run, 'batch 1', refused, 2);
      await perform(ledger, run, 'batch 0', { ...done, evidence: { code: 'ok' } });
      expect(await ledger.steps.listAnswers('r1', ['batch 1', 'batch 0'])).toMatchObject([
        { step: 'batch 1', attempt: 2, statusCode: 2009, answer: 'Invalid hotel data of Ana Gil' },
      ]);
      expect(JSON.stringify(await ledger.steps.listTroubles('r1', 9))).not.toContain('Ana Gil');
      expect(await ledger.steps.listTroubles('r1', 1)).toHaveLength(1);
      const other = await collectedFileRun(ledger, 'r2', { day: '2026-11-19' });
      await performUpTo(ledger, other, 'trigger');
      await perform(ledger, other, 'await-result', retry({ spendsTry: false }));
      // To wait is no trouble.
      expect(await ledger.steps.listTroubles('r2', 9)).toEqual([]);
    });
  });

  it('lists what was refused of several batches in the order of the plan, halves too', async () => {
    const { ledger } = opened();
    const run = await collectedRun(ledger, 'r1', { bookings: references(6) });
    await perform(ledger, run, 'batch 1', halved);
    for (const half of ['batch 1.1', 'batch 1.0', 'batch 0']) await perform(ledger, run, half, refused);
    const lines = async (limit: number, skip?: number) =>
      (await ledger.bookings.listRefused('r1', limit, skip)).map(({ line }) => line);
    const all = ['BR-0', 'BR-4', 'BR-5'].map((reference) => lineOf(reference));
    expect([await lines(9), await lines(1), await lines(9, 2)]).toEqual([all, all.slice(0, 1), all.slice(2)]);
  });

  it('names the failure that needs a person first, and tries the others again without one', async () => {
    const { ledger } = opened();
    const run = await collectedRun(ledger, 'r1', { bookings: references(8) });
    await perform(ledger, run, 'batch 0', failed);
    await perform(ledger, run, 'batch 1', { ...failed, class: 'internal' });
    const firstFailed = { name: 'batch 1', failureClass: 'internal' };
    expect(await ledger.runs.tally('r1')).toMatchObject({ firstFailed, retryableSteps: 1, failedSteps: 2 });
    await ledger.runs.settle(rightOf(run), { state: 'failed', at });
    await ledger.runs.takeOver('r1', { by: 'schedule' });
    expect(await openNames(ledger, 'r1')).toEqual(['batch 0']);
  });

  it('counts the time in which nobody worked on a run: since it failed, or was last worked on', async () => {
    const { ledger } = opened();
    const run = await collectedRun(ledger, 'r1');
    await ledger.runs.settle(rightOf(run), { state: 'failed', at: at - 60_000 });
    const resumed = await ledger.runs.takeOver('r1');
    const first = Number(resumed.resumedAt);
    expect(resumed.pausedMs).toBe(first - (at - 60_000));
    // Its process dies before it does anything.
    const again = await ledger.runs.takeOver('r1');
    expect(again.pausedMs).toBe(resumed.pausedMs + Number(again.resumedAt) - first);
    const last = Number(again.resumedAt) + 600_000;
    await record(ledger, await claimStep(ledger, again, 'batch 0'), done, last);
    const ended = { reason: 'wrong export', at: Number(again.resumedAt) + 3_600_000 };
    await ledger.runs.abandon('r1', ended);
    expect(await ledger.runs.get('r1')).toMatchObject({
      ...{ pausedMs: again.pausedMs + 3_000_000, cancelReason: 'wrong export' },
    });
  });

  describe('the lease of a claim', () => {
    it('keeps others from the step while it lasts, and is extended by a full lease when it is renewed', async () => {
      const { ledger, reopen, endLeases } = opened();
      const run = await collectedRun(ledger, 'r1');
      const renewed = await claimStep(ledger, run, 'batch 0');
      const other = await reopen();
      expect(await other.steps.isBeingPerformed('r1')).toBe(true);
      expect(await other.steps.reopenAbandoned('r1')).toBe(0);
      await ledger.steps.claim(rightOf(run), 'batch 1', 1, at + 5);
      await endLeases();
      expect(await other.steps.isBeingPerformed('r1')).toBe(false);
      expect(await other.steps.readOpenWork('r1', at)).toMatchObject({
        ...{ performed: 0, abandoned: 2, oldest: { step: 'batch 0', kind: 'batch', since: at } },
      });
      expect(await ledger.steps.renewClaims([renewed])).toEqual([]);
      expect(await other.steps.isBeingPerformed('r1')).toBe(true);
      expect(await other.steps.reopenAbandoned('r1')).toBe(1);
      expect(await openNames(other, 'r1')).toEqual(['batch 1', 'batch 2']);
      await record(ledger, renewed, done, at);
    });

    it('is said to be outdated of each of many claims, over several runs, and touches no other run', async () => {
      const { ledger, reopen, endLeases } = opened();
      const run = await collectedRun(ledger, 'r1');
      const earlier = await collectedRun(ledger, 'r2', { day: '2026-11-19' });
      const kept = await claimStep(ledger, run, 'batch 0');
      const recorded = await claimStep(ledger, run, 'batch 1');
      await record(ledger, recorded, retry(), at);
      const again = await claimStep(ledger, run, 'batch 1', 2);
      await expect(record(ledger, recorded, done, at)).rejects.toThrow(FencedError);
      const takenOver = await claimStep(ledger, earlier, 'batch 0');
      const owner = await (await reopen()).runs.takeOver('r2');
      expect(await ledger.steps.renewClaims([takenOver, kept, recorded, again])).toEqual([
        takenOver,
        recorded,
      ]);
      expect(await ledger.steps.renewClaims([])).toEqual([]);
      const claim = await claimStep(ledger, owner, 'batch 1');
      await endLeases();
      expect(await ledger.steps.reopenAbandoned('r1')).toBe(2);
      expect(await ledger.steps.holdsClaim(claim)).toBe(true);
      await ledger.runs.abandon('r2', { reason: 'over', at });
      expect(await ledger.steps.holdsClaim(claim)).toBe(false);
      expect(await ledger.steps.renewClaims([claim])).toEqual([claim]);
    });
  });

  it('knows the processes that said within a lease that they are there', async () => {
    const { ledger, reopen, endLeases } = opened();
    const worker = { host: 'a-host', version: '1', startedAt: at };
    for (const id of ['gone', 'back', 'left']) await ledger.workers.heartbeat({ id, ...worker });
    await ledger.workers.remove('left');
    await endLeases();
    const other = await reopen();
    for (const id of ['new', 'back']) await other.workers.heartbeat({ id, ...worker });
    const seen = async () => (await ledger.workers.listSeen()).map(({ id }) => id);
    expect(await seen()).toEqual(['back', 'new']);
    await other.workers.removeGone();
    expect(await seen()).toEqual(['back', 'new']);
  });
}

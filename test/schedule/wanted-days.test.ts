import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { WantedDay } from '../../src/ledger/wanted-days.js';
import { isActive } from '../../src/rules/run.js';
import { decideRequest } from '../../src/schedule/wanted-days.js';
import { createArraySource, records } from '../review/array-source.js';
import { references } from '../review/delivering.js';
import { ok } from '../review/scripted-service.js';
import { someRun } from '../review/some-run.js';
import { prepareWork, reviewedDay, unstopped } from '../review/working-day.js';
import { createGate } from '../support/gate.js';
import { patienceMs } from '../support/patience.js';
import { openWantedDays } from './wanted-work.js';

const hook = { mode: 'run', trigger: 'hook' } as const;
const nightly = { mode: 'run', trigger: 'schedule' } as const;
const day = reviewedDay.iso;

describe('wanted days', () => {
  it('have the same run whenever they are wanted: before it, during it and after it', async () => {
    const work = await prepareWork();
    const { days, after, done } = openWantedDays(work.startAlone().parts);
    const [first, second] = await Promise.all([days.want(reviewedDay, hook), days.want(reviewedDay, hook)]);
    await done();
    const third = await days.want(reviewedDay, hook);
    expect([second.runId, third.runId]).toEqual([first.runId, first.runId]);
    expect(after).toEqual([first.runId]);
    expect(await work.ledger.wanted.list()).toEqual([]);
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([{ id: first.runId }]);
  });

  it('that a process has left are found by the next one', async () => {
    const work = await prepareWork();
    const asked = createGate();
    const { parts } = work.startAlone({
      answer(_, signal) {
        asked.open();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const first = openWantedDays(parts);
    const { runId } = await first.days.want(reviewedDay, hook);
    await asked.passed;
    await first.stopped();
    expect(await work.ledger.holds.day('2026-11-21')).toBeDefined();
    expect(await work.ledger.runs.get(runId)).toMatchObject({ state: 'delivering' });
    expect(first.after).toEqual([]);
    const next = openWantedDays(work.startAlone().parts);
    next.days.start();
    await next.done();
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([{ id: runId, state: 'succeeded' }]);
  });

  it('stay wanted after a mistake, which is reported', async () => {
    const work = await prepareWork();
    const fault = new TypeError('a mistake of ours');
    const { days, faults, after } = openWantedDays(
      work.startAlone({ answer: () => Promise.reject(fault) }).parts,
    );
    const { runId } = await days.want(reviewedDay, hook);
    await vi.waitUntil(() => faults.length > 0, { timeout: patienceMs });
    expect(faults).toEqual([{ error: fault, day }]);
    expect(after).toEqual([]);
    expect((await work.ledger.runs.get(runId)).state).toBe('delivering');
    expect(await work.ledger.wanted.list()).toMatchObject([{ runId }]);
  });

  it('that are done are compared with the expected number of records, and what is missing is sent', async () => {
    const work = await prepareWork();
    const first = openWantedDays(work.startAlone().parts);
    const { runId } = await first.days.want(reviewedDay, { ...hook, expected: 12 });
    await first.done();
    expect(await first.days.want(reviewedDay, { ...hook, expected: 12 })).toMatchObject({ runId });
    await first.stopped();
    const fuller = createArraySource([records(0, 14)]);
    const { days, done } = openWantedDays(work.startAlone({ source: fuller }).parts);
    const second = await days.want(reviewedDay, { ...hook, expected: 14 });
    await done();
    expect(second.runId).not.toBe(runId);
    expect(await work.ledger.runs.get(second.runId)).toMatchObject({
      ...{ state: 'succeeded', topsUp: true, expected: 14 },
      counts: { read: 14, delivered: 2 },
    });
    expect([...work.accepted].sort()).toEqual([...references(14)].sort());
  });

  it('fail if their source still holds another number, until the caller corrects it', async () => {
    const work = await prepareWork();
    const { days, done } = openWantedDays(work.startAlone().parts);
    await days.want(reviewedDay, hook);
    await done();
    const { runId } = await days.want(reviewedDay, { ...hook, expected: 14 });
    await done();
    expect(await work.ledger.runs.get(runId)).toMatchObject({
      state: 'failed',
      failure: { class: 'data', code: 'unexpected-count' },
    });
    expect(work.accepted).toHaveLength(12);
    const again = await days.want(reviewedDay, { ...hook, expected: 12 });
    await done();
    expect(again.runId).toBe(runId);
    expect((await work.ledger.runs.get(runId)).state).toBe('succeeded');
  });

  it('read the source again at their end if they are being delivered', async () => {
    const work = await prepareWork();
    const [asked, answers] = [createGate(), createGate()];
    const { parts } = work.startAlone({
      async answer() {
        asked.open();
        await answers.passed;
        return ok;
      },
    });
    const { days, done } = openWantedDays(parts);
    const reviewed = days.review(reviewedDay, nightly, unstopped);
    await asked.passed;
    const { runId } = await days.want(reviewedDay, { ...hook, expected: 14 });
    answers.open();
    await reviewed;
    await done();
    expect(await work.ledger.runs.list({ day, limit: 9 })).toMatchObject([
      { state: 'failed', topsUp: true, trigger: 'schedule', failure: { code: 'unexpected-count' } },
      { id: runId, state: 'succeeded', expected: 14 },
    ]);
    expect(work.accepted).toHaveLength(12);
    const later = createBusinessDay('2027-01-01', reviewedDay.zone);
    expect(await work.ledger.runs.summarise(later)).not.toHaveProperty('lastGoodDay');
  });
});

describe('what is left to do for a wanted day', () => {
  const wanted: WantedDay = { day, runId: 'r', mode: 'run', trigger: 'hook', wantedAt: 1 };
  const states = ['collecting', 'delivering', 'awaiting-result', 'succeeded', 'failed', 'cancelled'] as const;

  it('is to open its run, and of a replay only if nobody has opened another one since', () => {
    expect(decideRequest(wanted, undefined)).toMatchObject({ mode: 'run', trigger: 'hook' });
    const replay = { ...wanted, mode: 'replay', trigger: 'replay' } as const;
    expect(decideRequest(replay, undefined)).toMatchObject({ mode: 'replay', seenRunId: null });
    expect(decideRequest({ ...replay, latestRun: 'q' }, undefined)).toMatchObject({ seenRunId: 'q' });
  });

  it('never starts a run twice: one that has begun is resumed, and one that has ended since is left alone', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('run' as const, 'replay' as const, 'late' as const),
        fc.constantFrom(...states),
        fc.integer({ min: 1, max: 3 }),
        fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
        fc.boolean(),
        (mode, state, token, endedToken, isOverdue) => {
          const asked = decideRequest(
            { ...wanted, mode, ...(endedToken !== undefined && { endedToken }) },
            someRun({ id: 'r', state, token, ...(isOverdue && { overdueAt: 1 }) }),
          );
          // A result that is overdue is nothing to work on.
          const isOpen = isActive({ state }) && !isOverdue;
          if (isOpen) expect(asked).toMatchObject({ mode: 'resume', runId: 'r' });
          else expect(asked?.mode).toBe(token === endedToken ? mode : undefined);
        },
      ),
    );
  });
});

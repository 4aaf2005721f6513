import { describe, expect, it, vi } from 'vitest';
import { createReviewDesk, type ReviewDesk } from '../../src/review/day/review-desk.js';
import type { RunDayParts } from '../../src/review/day/run-day.js';
import type { Ledger } from '../../src/review/ledger.js';
import { DayBusyError } from '../../src/review/refusals.js';
import { createGate } from '../support/gate.js';
import { ok, references } from './delivering.js';
import { openRun } from './temporary-ledger.js';
import { prepareWork, reviewedDay, unstopped } from './working-day.js';

const hook = { mode: 'run', trigger: 'hook' } as const;
const nightly = { mode: 'run', trigger: 'schedule' } as const;
const day = reviewedDay.iso;

describe('the desk of a process that stays', () => {
  it('sees a review through, and then does what is to be done after each', async () => {
    const work = await prepareWork();
    const { desk, afterwards } = openDesk(work.startAlone().parts);
    const { run } = await desk.review(reviewedDay, nightly, unstopped);
    expect(run).toMatchObject({ state: 'succeeded', trigger: 'schedule', delivery: 'body' });
    expect(afterwards()).toBe(1);
  });

  it('answers for a day that is only begun as soon as the ledger holds its run', async () => {
    const work = await prepareWork();
    const answers = createGate();
    const alone = work.startAlone({
      async answer() {
        await answers.passed;
        return ok;
      },
    });
    const { desk, afterwards } = openDesk(alone.parts);
    const { run, isNew } = await desk.begin(reviewedDay, hook);
    expect(isNew).toBe(true);
    expect(await work.ledger.getRun(run.id)).toMatchObject({ trigger: 'hook', counts: { delivered: 0 } });
    answers.open();
    await desk.idle();
    expect(await work.ledger.getRun(run.id)).toMatchObject({ state: 'succeeded' });
    expect([...work.accepted].sort()).toEqual([...references(12)].sort());
    expect(afterwards()).toBe(1);
  });

  it('answers with the same run as long as a day is reviewed, and when it is done', async () => {
    const work = await prepareWork();
    const { desk } = openDesk(work.startAlone().parts);
    const first = await desk.begin(reviewedDay, hook);
    const second = await desk.begin(reviewedDay, hook);
    await desk.idle();
    const third = await desk.begin(reviewedDay, hook);
    expect([second, third]).toMatchObject(Array(2).fill({ run: { id: first.run.id }, isNew: false }));
    expect(await work.ledger.listRuns({ limit: 9 })).toHaveLength(1);
  });

  it.each(['alone', 'shared'] as const)(
    'answers with the run of another process, which works %s and has the day, but no run yet',
    async (kind) => {
      const work = await prepareWork();
      const { parts } = kind === 'alone' ? work.startAlone() : work.startShared();
      const { desk } = openDesk(parts);
      const hold = await work.ledger.holdDay(day);
      const begun = desk.begin(reviewedDay, hook);
      const { runId } = await openRun(work.ledger, day);
      expect(await begun).toMatchObject({ run: { id: runId }, isNew: false });
      expect(await work.ledger.listRuns({ limit: 9 })).toHaveLength(1);
      await hold?.release();
      await desk.idle();
    },
  );

  it('asks the ledger no more often for a run that is shared, however often its day is called for', async () => {
    const work = await prepareWork();
    const answers = createGate();
    const shared = work.startShared({
      async answer() {
        await answers.passed;
        return ok;
      },
    });
    const { desk } = openDesk(shared.parts);
    const { run } = await desk.begin(reviewedDay, hook);
    await vi.waitUntil(() => shared.told('watched').length > 0);
    for (const _ of Array(9))
      expect(await desk.begin(reviewedDay, hook)).toMatchObject({ run: { id: run.id }, isNew: false });
    expect(shared.told('run-opened')).toHaveLength(1);
    answers.open();
    await desk.idle();
  });

  it('begins the day itself when the other process lets go of it without a run', async () => {
    const work = await prepareWork();
    const { desk, faults } = openDesk(work.startAlone().parts);
    const asked = createGate();
    const hold = await work.ledger.holdDay(day);
    const patient: Ledger = {
      ...work.ledger,
      async latestRun(ofDay) {
        asked.open();
        return work.ledger.latestRun(ofDay);
      },
    };
    const { desk: other } = openDesk({ ...work.startAlone().parts, ledger: patient });
    const begun = other.begin(reviewedDay, hook);
    await asked.passed;
    await hold?.release();
    expect(await begun).toMatchObject({ isNew: true });
    await Promise.all([desk.idle(), other.idle()]);
    expect(faults).toEqual([]);
  });

  it('says that a day is busy when it stays so, and nobody opens a run of it', async () => {
    const work = await prepareWork();
    await work.ledger.holdDay(day);
    let now = 0;
    const { desk } = openDesk({
      ...work.startAlone().parts,
      clock() {
        now += 3_000;
        return now;
      },
    });
    await expect(desk.begin(reviewedDay, hook)).rejects.toThrow(DayBusyError);
  });

  it('passes on what keeps a run from being opened', async () => {
    const work = await prepareWork();
    const fault = new Error('the ledger is away');
    const { desk } = openDesk({
      ...work.startAlone().parts,
      ledger: { ...work.ledger, createRun: () => Promise.reject(fault) },
    });
    await expect(desk.begin(reviewedDay, hook)).rejects.toBe(fault);
  });

  it('tells of a fault that comes when it has answered', async () => {
    const work = await prepareWork();
    const fault = new TypeError('a mistake of ours');
    const { desk, faults, afterwards } = openDesk(
      work.startAlone({ answer: () => Promise.reject(fault) }).parts,
    );
    const { run } = await desk.begin(reviewedDay, hook);
    await desk.idle();
    expect(faults).toEqual([{ error: fault, day }]);
    expect(afterwards()).toBe(0);
    expect((await work.ledger.getRun(run.id)).state).toBe('delivering');
  });

  it('is idle once everything has stopped, and does nothing after a review that was stopped', async () => {
    const work = await prepareWork();
    const stop = new AbortController();
    const asked = createGate();
    const alone = work.startAlone({
      answer(_, signal) {
        asked.open();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const { desk, afterwards } = openDesk(alone.parts, stop.signal);
    const { run } = await desk.begin(reviewedDay, hook);
    await asked.passed;
    stop.abort();
    await desk.idle();
    expect(await work.ledger.holdDay(day)).toBeDefined();
    expect((await work.ledger.getRun(run.id)).state).toBe('delivering');
    expect(afterwards()).toBe(0);
  });
});

function openDesk(parts: RunDayParts, signal = unstopped) {
  const faults: { readonly error: unknown; readonly day: string }[] = [];
  let done = 0;
  const desk: ReviewDesk = createReviewDesk({
    parts,
    configuredDelivery: 'body',
    async afterReview() {
      done += 1;
    },
    onFault: (error, ofDay) => faults.push({ error, day: ofDay.iso }),
    signal,
  });
  return { desk, faults, afterwards: () => done };
}

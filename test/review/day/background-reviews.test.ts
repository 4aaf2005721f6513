import { describe, expect, it, vi } from 'vitest';
import {
  type BackgroundReviews,
  createBackgroundReviews,
} from '../../../src/review/day/background-reviews.js';
import type { RunDayParts } from '../../../src/review/day/run-day.js';
import type { ReviewEvent } from '../../../src/review/events.js';
import type { Ledger } from '../../../src/review/ledger.js';
import { DayBusyError } from '../../../src/review/refusals.js';
import { createGate } from '../../support/gate.js';
import { ok, references } from '../delivering.js';
import { openRun } from '../temporary-ledger.js';
import { prepareWork, reviewedDay, unstopped } from '../working-day.js';

const hook = { mode: 'run', trigger: 'hook' } as const;
const nightly = { mode: 'run', trigger: 'schedule' } as const;
const day = reviewedDay.iso;

describe('background reviews', () => {
  it('completes a review, and then calls afterReview', async () => {
    const work = await prepareWork();
    const { reviews, afterwards } = openReviews(work.startAlone().parts);
    const { run } = await reviews.review(reviewedDay, nightly, unstopped);
    expect(run).toMatchObject({ state: 'succeeded', trigger: 'schedule', delivery: 'body' });
    expect(afterwards()).toBe(1);
  });

  it('start resolves once the ledger holds the run, and the review continues', async () => {
    const work = await prepareWork();
    const answers = createGate();
    const alone = work.startAlone({
      async answer() {
        await answers.passed;
        return ok;
      },
    });
    const { reviews, afterwards } = openReviews(alone.parts);
    const { run, isNew } = await reviews.start(reviewedDay, hook);
    expect(isNew).toBe(true);
    expect(await work.ledger.getRun(run.id)).toMatchObject({ trigger: 'hook', counts: { delivered: 0 } });
    answers.open();
    await reviews.idle();
    expect(await work.ledger.getRun(run.id)).toMatchObject({ state: 'succeeded' });
    expect([...work.accepted].sort()).toEqual([...references(12)].sort());
    expect(afterwards()).toBe(1);
  });

  it('start returns the same run while the day is being reviewed and after it is done', async () => {
    const work = await prepareWork();
    const { reviews } = openReviews(work.startAlone().parts);
    const first = await reviews.start(reviewedDay, hook);
    const second = await reviews.start(reviewedDay, hook);
    await reviews.idle();
    const third = await reviews.start(reviewedDay, hook);
    expect([second, third]).toMatchObject(Array(2).fill({ run: { id: first.run.id }, isNew: false }));
    expect(await work.ledger.listRuns({ limit: 9 })).toHaveLength(1);
  });

  it.each(['alone', 'shared'] as const)(
    'start returns the run of another process that works %s and holds the day, but has no run yet',
    async (kind) => {
      const work = await prepareWork();
      const { parts } = kind === 'alone' ? work.startAlone() : work.startShared();
      const { reviews } = openReviews(parts);
      const hold = await work.ledger.holdDay(day);
      const started = reviews.start(reviewedDay, hook);
      const { runId } = await openRun(work.ledger, day);
      expect(await started).toMatchObject({ run: { id: runId }, isNew: false });
      expect(await work.ledger.listRuns({ limit: 9 })).toHaveLength(1);
      await hold?.release();
      await reviews.idle();
    },
  );

  it('watches a shared run once, however often its day is started', async () => {
    const work = await prepareWork();
    const answers = createGate();
    const shared = work.startShared({
      async answer() {
        await answers.passed;
        return ok;
      },
    });
    const { reviews } = openReviews(shared.parts);
    const { run } = await reviews.start(reviewedDay, hook);
    await vi.waitUntil(() => shared.reported('watched').length > 0, { timeout: 30_000 });
    for (const _ of Array(9))
      expect(await reviews.start(reviewedDay, hook)).toMatchObject({ run: { id: run.id }, isNew: false });
    expect(shared.reported('run-opened')).toHaveLength(1);
    answers.open();
    await reviews.idle();
  });

  it('starts the day itself when the other process releases it without a run', async () => {
    const work = await prepareWork();
    const { reviews, faults } = openReviews(work.startAlone().parts);
    const asked = createGate();
    const hold = await work.ledger.holdDay(day);
    const patient: Ledger = {
      ...work.ledger,
      async latestRun(ofDay) {
        asked.open();
        return work.ledger.latestRun(ofDay);
      },
    };
    const { reviews: other } = openReviews({ ...work.startAlone().parts, ledger: patient });
    const started = other.start(reviewedDay, hook);
    await asked.passed;
    await hold?.release();
    expect(await started).toMatchObject({ isNew: true });
    await Promise.all([reviews.idle(), other.idle()]);
    expect(faults).toEqual([]);
  });

  it('start fails as busy when another process keeps holding the day without opening a run', async () => {
    const work = await prepareWork();
    await work.ledger.holdDay(day);
    let now = 0;
    const { reviews } = openReviews({
      ...work.startAlone().parts,
      clock() {
        now += 3_000;
        return now;
      },
    });
    await expect(reviews.start(reviewedDay, hook)).rejects.toThrow(DayBusyError);
  });

  it('start fails with the error that prevented the run from being opened', async () => {
    const work = await prepareWork();
    const fault = new Error('the ledger is away');
    const { reviews } = openReviews({
      ...work.startAlone().parts,
      ledger: { ...work.ledger, createRun: () => Promise.reject(fault) },
    });
    await expect(reviews.start(reviewedDay, hook)).rejects.toBe(fault);
  });

  it('reports an error that occurs after start has resolved', async () => {
    const work = await prepareWork();
    const fault = new TypeError('a mistake of ours');
    const { reviews, faults, afterwards } = openReviews(
      work.startAlone({ answer: () => Promise.reject(fault) }).parts,
    );
    const { run } = await reviews.start(reviewedDay, hook);
    await reviews.idle();
    expect(faults).toEqual([{ error: fault, day }]);
    expect(afterwards()).toBe(0);
    expect((await work.ledger.getRun(run.id)).state).toBe('delivering');
  });

  it('idle waits until everything has stopped, and afterReview is not called for a stopped review', async () => {
    const work = await prepareWork();
    const stop = new AbortController();
    const asked = createGate();
    const alone = work.startAlone({
      answer(_, signal) {
        asked.open();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const { reviews, afterwards } = openReviews(alone.parts, stop.signal);
    const { run } = await reviews.start(reviewedDay, hook);
    await asked.passed;
    stop.abort();
    await reviews.idle();
    expect(await work.ledger.holdDay(day)).toBeDefined();
    expect((await work.ledger.getRun(run.id)).state).toBe('delivering');
    expect(afterwards()).toBe(0);
  });
});

function openReviews(parts: RunDayParts, signal = unstopped) {
  const faults: { readonly error: unknown; readonly day: string }[] = [];
  const notify = (event: ReviewEvent) => {
    parts.notify(event);
    if (event.type === 'review-broke-off') faults.push({ error: event.error, day: event.day });
  };
  let done = 0;
  const reviews: BackgroundReviews = createBackgroundReviews({
    parts: { ...parts, notify },
    configuredDelivery: 'body',
    async afterReview() {
      done += 1;
    },
    signal,
  });
  return { reviews, faults, afterwards: () => done };
}

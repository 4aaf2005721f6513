import { describe, expect, it, vi } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import type { BookingSource } from '../../../src/booking/source.js';
import {
  type BackgroundReviews,
  createBackgroundReviews,
} from '../../../src/review/day/background-reviews.js';
import { DayBusyError } from '../../../src/review/day/join-run.js';
import type { ReviewEvent } from '../../../src/review/events.js';
import type { ReviewParts } from '../../../src/review/review-day.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { createGate } from '../../support/gate.js';
import { patienceMs } from '../../support/patience.js';
import { createArraySource, records } from '../array-source.js';
import { references } from '../delivering.js';
import { ok } from '../scripted-service.js';
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
    expect(await work.ledger.runs.get(run.id)).toMatchObject({ trigger: 'hook', counts: { delivered: 0 } });
    answers.open();
    await reviews.idle();
    expect(await work.ledger.runs.get(run.id)).toMatchObject({ state: 'succeeded' });
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
    expect(await work.ledger.runs.list({ limit: 9 })).toHaveLength(1);
  });

  it.each(['alone', 'shared'] as const)(
    'start returns the run of another process that works %s and holds the day, but has no run yet',
    async (kind) => {
      const work = await prepareWork();
      const { parts } = kind === 'alone' ? work.startAlone() : work.startShared();
      const { reviews } = openReviews(parts);
      const hold = await work.ledger.holds.day(day);
      const started = reviews.start(reviewedDay, hook);
      const { runId } = await openRun(work.ledger, day);
      expect(await started).toMatchObject({ run: { id: runId }, isNew: false });
      expect(await work.ledger.runs.list({ limit: 9 })).toHaveLength(1);
      await hold?.release();
      await reviews.idle();
    },
  );

  it('does not restart a day whose run was cancelled while it waited for that run', async () => {
    const work = await prepareWork();
    const { reviews } = openReviews(work.startShared().parts);
    const hold = await work.ledger.holds.day(day);
    const started = reviews.start(reviewedDay, hook);
    const { runId } = await openRun(work.ledger, day);
    await started;
    await work.ledger.runs.abandon(runId, { reason: 'wrong export', at: 0 });
    await hold?.release();
    await reviews.idle();
    expect(await work.ledger.runs.list({ limit: 9 })).toMatchObject([{ id: runId, state: 'cancelled' }]);
    // A new request is another matter.
    expect(await reviews.start(reviewedDay, hook)).toMatchObject({ isNew: true });
    await reviews.idle();
  });

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
    await vi.waitUntil(() => shared.reported('watched').length > 0, { timeout: patienceMs });
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
    const hold = await work.ledger.holds.day(day);
    const patient = withReplaced(work.ledger, {
      runs: {
        async latest(ofDay) {
          asked.open();
          return work.ledger.runs.latest(ofDay);
        },
      },
    });
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
    await work.ledger.holds.day(day);
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
      ledger: withReplaced(work.ledger, { runs: { create: () => Promise.reject(fault) } }),
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
    expect((await work.ledger.runs.get(run.id)).state).toBe('delivering');
  });

  it('start compares a done day with the expected number of records, and sends what is missing', async () => {
    const work = await prepareWork();
    const first = openReviews(work.startAlone().parts);
    const { run } = await first.reviews.start(reviewedDay, { ...hook, expected: 12 });
    await first.reviews.idle();
    expect(await first.reviews.start(reviewedDay, { ...hook, expected: 12 })).toMatchObject({
      run: { id: run.id },
      isNew: false,
    });
    const fuller = createArraySource([records(0, 14)]);
    const { reviews } = openReviews(work.startAlone({ source: fuller }).parts);
    const { run: second, isNew } = await reviews.start(reviewedDay, { ...hook, expected: 14 });
    await reviews.idle();
    expect(isNew).toBe(true);
    expect(await work.ledger.runs.get(second.id)).toMatchObject({
      state: 'succeeded',
      topsUp: true,
      expected: 14,
      counts: { read: 14, delivered: 2 },
    });
    expect([...work.accepted].sort()).toEqual([...references(14)].sort());
  });

  it('start fails a done day whose source still holds a different number of records', async () => {
    const work = await prepareWork();
    const { reviews } = openReviews(work.startAlone().parts);
    await reviews.start(reviewedDay, hook);
    await reviews.idle();
    const { run } = await reviews.start(reviewedDay, { ...hook, expected: 14 });
    await reviews.idle();
    expect(await work.ledger.runs.get(run.id)).toMatchObject({
      state: 'failed',
      failure: { class: 'data', code: 'unexpected-count' },
    });
    expect(work.accepted).toHaveLength(12);
    // The caller corrects its number.
    const { run: again } = await reviews.start(reviewedDay, { ...hook, expected: 12 });
    await reviews.idle();
    expect(again.id).toBe(run.id);
    expect((await work.ledger.runs.get(run.id)).state).toBe('succeeded');
  });

  it('start makes a run that is being collected check the number before anything is sent', async () => {
    const work = await prepareWork();
    const reading = createGate();
    const rest = createGate();
    const usual = createArraySource([records(0, 12)]);
    const source: BookingSource = {
      ...usual,
      async *read(ofDay, options) {
        reading.open();
        await rest.passed;
        yield* usual.read(ofDay, options);
      },
    };
    const { reviews } = openReviews(work.startAlone({ source }).parts);
    const { run } = await reviews.start(reviewedDay, nightly);
    await reading.passed;
    expect(await reviews.start(reviewedDay, { ...hook, expected: 14 })).toMatchObject({
      run: { id: run.id, expected: 14 },
      isNew: false,
    });
    rest.open();
    await reviews.idle();
    expect(await work.ledger.runs.get(run.id)).toMatchObject({
      state: 'failed',
      failure: { code: 'unexpected-count' },
    });
    expect(work.calls).toEqual([]);
  });

  it('start makes a run that is being delivered read the source again at its end', async () => {
    const work = await prepareWork();
    const asked = createGate();
    const answers = createGate();
    const { parts } = work.startAlone({
      async answer() {
        asked.open();
        await answers.passed;
        return ok;
      },
    });
    const { reviews } = openReviews(parts);
    const { run } = await reviews.start(reviewedDay, nightly);
    await asked.passed;
    expect(await reviews.start(reviewedDay, { ...hook, expected: 14 })).toMatchObject({
      run: { id: run.id },
    });
    answers.open();
    await reviews.idle();
    const runs = await work.ledger.runs.list({ day, limit: 9 });
    expect(runs).toMatchObject([
      { state: 'failed', topsUp: true, trigger: 'schedule', failure: { code: 'unexpected-count' } },
      { id: run.id, state: 'succeeded', expected: 14 },
    ]);
    expect(work.accepted).toHaveLength(12);
    const later = createBusinessDay('2027-01-01', reviewedDay.zone);
    expect(await work.ledger.runs.summarise(later)).not.toHaveProperty('lastGoodDay');
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
    expect(await work.ledger.holds.day(day)).toBeDefined();
    expect((await work.ledger.runs.get(run.id)).state).toBe('delivering');
    expect(afterwards()).toBe(0);
  });
});

function openReviews(parts: ReviewParts, signal = unstopped) {
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

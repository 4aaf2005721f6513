import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type BookingSource, SourceError } from '../../src/booking/source.js';
import type { ReviewEvent } from '../../src/review/events.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import { findSourceDeadline, toDailyPattern } from '../../src/schedule/due-days.js';
import type { SchedulerEvent } from '../../src/schedule/events.js';
import { createReviewScheduler } from '../../src/schedule/review-scheduler.js';
import { createWantedDays } from '../../src/schedule/wanted-days.js';
import { createArraySource, records } from '../review/array-source.js';
import { prepareWork, unstopped } from '../review/working-day.js';

const cronTimes = createCronTimes('30 2 * * *', 'Europe/Madrid');
const giveUps = createCronTimes(toDailyPattern('12:00'), 'Europe/Madrid');
const cronTime = Date.parse('2026-11-21T01:30:00Z');
const noon = Date.parse('2026-11-21T11:00:00Z');
const day = '2026-11-20';

beforeEach(() => {
  // The ledger's own waits stay real.
  vi.useFakeTimers({
    now: cronTime - 1_000,
    toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The schedule and the reviews of `serve` over a ledger, with a source whose file may be missing. */
async function startServing(isThere: () => boolean) {
  const usual = createArraySource([records(0, 12)]);
  const source: BookingSource = {
    ...usual,
    async *read(ofDay, options) {
      if (!isThere()) throw new SourceError('missing', 'there is no file bookings-2026-11-20.csv');
      yield* usual.read(ofDay, options);
    },
  };
  const work = await prepareWork({ source });
  const reported: { readonly type: string; readonly at: number }[] = [];
  const notify = (event: ReviewEvent | SchedulerEvent) => {
    if (['settled', 'source-late', 'source-given-up'].includes(event.type))
      reported.push({ type: event.type, at: Date.now() });
  };
  const { parts } = work.startAlone();
  const reviews = createWantedDays({
    parts: { ...parts, notify, findSourceDeadline: (run) => findSourceDeadline(run, giveUps) },
    configuredDelivery: 'body',
    permits: 1,
    cronTimes,
    notify,
    afterReview: async () => {},
    signal: unstopped,
  });
  const tries: number[] = [];
  const scheduler = createReviewScheduler({
    ledger: work.ledger,
    cronTimes,
    giveUps,
    async review(ofDay, stop) {
      tries.push(Date.now());
      await reviews.review(ofDay, { mode: 'run', trigger: 'schedule' }, stop);
    },
    timing: { catchUpDays: 0, resumeMinutes: 30 },
    clock: () => Date.now(),
    notify,
    signal: unstopped,
  });
  await scheduler.start();
  return { work, scheduler, reported, tries };
}

/** Advances the clock in steps, and finishes everything that is due in each. */
async function goTo(instant: number, isIdle: () => Promise<boolean>): Promise<void> {
  while (Date.now() < instant) {
    await vi.advanceTimersByTimeAsync(Math.min(30_000, instant - Date.now()));
    for (let turn = 0; turn < 1_000 && !(await isIdle()); turn += 1)
      await new Promise((resolve) => setImmediate(resolve));
  }
}

it('a missing export is reported once at the start, and once when it is given up', async () => {
  const { work, scheduler, reported, tries } = await startServing(() => false);
  const isIdle = async () => (await work.ledger.runs.listActive()).length === 0;
  await goTo(noon - 3_600_000, isIdle);
  const message = 'there is no file bookings-2026-11-20.csv';
  expect(await work.ledger.runs.latest(day)).toMatchObject({
    failure: { code: 'missing', message: `${message}; it is tried again until 2026-11-21 12:00` },
  });
  await goTo(noon + 6 * 3_600_000, isIdle);
  expect(reported.map(({ type }) => type)).toEqual(['settled', 'source-late', 'source-given-up']);
  expect(reported.at(-1)?.at).toBeLessThan(noon + 30_000);
  expect(tries.length).toBeGreaterThan(15);
  expect(tries.filter((at) => at >= noon)).toHaveLength(1);
  expect(await work.ledger.runs.list({ day, limit: 9 })).toMatchObject([
    {
      state: 'failed',
      failure: {
        ...{ class: 'data', code: 'source-given-up' },
        message: expect.stringContaining(`${message}; it did not arrive in time`),
      },
    },
  ]);
  expect(work.calls).toEqual([]);
  await scheduler.close();
});

it('one that arrives just before the last try is reviewed, and not given up', async () => {
  const { work, scheduler, reported } = await startServing(() => Date.now() >= noon - 1_000);
  const isIdle = async () => (await work.ledger.runs.listActive()).length === 0;
  await goTo(noon + 3_600_000, isIdle);
  expect(reported.map(({ type }) => type)).toEqual(['settled', 'source-late']);
  expect(await work.ledger.runs.list({ day, limit: 9 })).toMatchObject([
    { state: 'succeeded', counts: { delivered: 12 } },
  ]);
  await scheduler.close();
});

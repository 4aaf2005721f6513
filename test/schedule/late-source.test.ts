import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Run } from '../../src/rules/run.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import {
  describeGivenUp,
  findDueDays,
  findSourceDeadline,
  isToGiveUp,
  toDailyPattern,
} from '../../src/schedule/due-days.js';
import { runOf } from './ledger-days.js';
import { keepDays, type Review } from './scheduled-days.js';

const cronTimes = createCronTimes('30 2 * * *', 'Europe/Madrid');
const giveUps = createCronTimes(toDailyPattern('12:00'), 'Europe/Madrid');
const cronTime = new Date('2026-11-21T01:30:00Z');
const noon = Date.parse('2026-11-21T11:00:00Z');
const failure = {
  class: 'data',
  code: 'missing',
  message: 'bookings-2026-11-20.csv does not exist',
} as const;

function missing(changes: Partial<Run> = {}): Run {
  return runOf('2026-11-20', 'failed', cronTime, { failure, ...changes });
}

const lateAt = (collectStartedAt: number) => ({ failure, startedAt: cronTime.getTime(), collectStartedAt });

describe('a source that has not arrived yet', () => {
  it('is waited for until the first give-up time after the cron time or the call', () => {
    expect(findSourceDeadline(missing(), giveUps)).toBe(noon);
    const evening = Date.parse('2026-11-20T22:50:00Z');
    expect(findSourceDeadline(missing({ trigger: 'hook', startedAt: evening }), giveUps)).toBe(noon);
    expect(findSourceDeadline(missing({ startedAt: noon }), giveUps)).toBe(noon + 24 * 3_600_000);
    expect(findSourceDeadline(missing({ trigger: 'manual' }), giveUps)).toBeUndefined();
  });

  it('makes its day due until then, once the run has rested', () => {
    const ask = (at: number, run = missing()) =>
      findDueDays({
        cronTimes,
        giveUps,
        now: new Date(at),
        watchedSince: cronTime,
        catchUpDays: 0,
        restMs: 900_000,
        firstDay: '2026-11-01',
        latestRuns: [run],
        awaiting: [],
      }).map(({ kind }) => kind);
    expect(ask(cronTime.getTime() + 899_999)).toEqual([]);
    expect(ask(cronTime.getTime() + 900_000)).toEqual(['resume']);
    expect(ask(noon - 1)).toEqual(['resume']);
    // Once more, however recent the try before.
    const justNow = missing({ collectStartedAt: noon - 1, finishedAt: noon - 1 });
    expect([ask(noon - 1, justNow), ask(noon, justNow)]).toEqual([[], ['resume']]);
    expect(ask(noon + 1, missing({ collectStartedAt: noon, finishedAt: noon }))).toEqual([]);
    expect(ask(noon - 1, { ...missing(), failure: describeGivenUp(missing()) })).toEqual([]);
  });

  it('is given up once, after the try at that time', () => {
    expect(isToGiveUp(missing(), giveUps)).toBe(false);
    expect(isToGiveUp(missing({ collectStartedAt: noon - 1 }), giveUps)).toBe(false);
    expect(isToGiveUp(missing({ collectStartedAt: noon }), giveUps)).toBe(true);
    const givenUp = missing({ collectStartedAt: noon, failure: describeGivenUp(missing()) });
    expect(isToGiveUp(givenUp, giveUps)).toBe(false);
    expect(describeGivenUp(missing()).message).toContain(
      'bookings-2026-11-20.csv does not exist; it did not arrive',
    );
  });
});

describe('the scheduler and a late source', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: cronTime.getTime() - 60_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('tries for the last time when it gives up, even if it would rest longer', async () => {
    const { scheduler, reviews, events } = keepDays({
      cronTimes,
      runs: [runOf('2026-11-19', 'succeeded', new Date('2026-11-20T02:30:00Z'))],
      timing: { catchUpDays: 0, resumeMinutes: 180 },
      onReview: ({ end }) => void end('failed', lateAt(Date.now())),
    });
    await scheduler.start();
    await vi.advanceTimersByTimeAsync(60_000);
    await vi.advanceTimersByTimeAsync(noon - 1 - Date.now());
    expect(events.map(({ type }) => type)).not.toContain('source-given-up');
    await vi.advanceTimersByTimeAsync(1);
    expect(reviews.filter(({ at }) => Date.parse(at) >= noon)).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'source-given-up')).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(6 * 3_600_000);
    expect(reviews.at(-1)?.at).toBe('2026-11-21T11:00:00.000Z');
    await scheduler.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives up as soon as the last try ends, if that takes longer', async () => {
    let last: Review | undefined;
    const { scheduler, events, runs } = keepDays({
      cronTimes,
      runs: [runOf('2026-11-19', 'succeeded', new Date('2026-11-20T02:30:00Z'))],
      timing: { catchUpDays: 0, resumeMinutes: 1_440 },
      onReview(review) {
        if (Date.now() < noon) void review.end('failed', lateAt(Date.now()));
        else {
          last = review;
          runs.set(review.day, runOf(review.day, 'collecting', cronTime));
        }
      },
    });
    await scheduler.start();
    await vi.advanceTimersByTimeAsync(60_000);
    await vi.advanceTimersByTimeAsync(noon + 90_000 - Date.now());
    expect(events.map(({ type }) => type)).not.toContain('source-given-up');
    await last?.end('failed', lateAt(noon));
    expect(events.filter(({ type }) => type === 'source-given-up')).toHaveLength(1);
    await scheduler.close();
  });
});

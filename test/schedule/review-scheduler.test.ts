import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LedgerAwayError } from '../../src/ledger/errors.js';
import { DayBusyError } from '../../src/review/day/join-run.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import { failureOf, runOf } from './ledger-days.js';
import { goTo, type KeptDays, keepDays, settle } from './scheduled-days.js';

const cronTimes = createCronTimes('30 2 * * *', 'Europe/Madrid');
const noon = new Date('2026-11-20T12:00:00Z');
const slotOf21st = new Date('2026-11-21T01:30:00Z');
const minuteMs = 60_000;

function goodRun(day: string) {
  return runOf(day, 'succeeded', new Date(Date.parse(`${day}T02:00:00Z`) + 24 * 60 * minuteMs));
}

/** Its result is awaited, and not overdue. */
const inTime = (day: string) => runOf(day, 'awaiting-result', noon, { openSteps: 2 });

const allGood = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19'].map(goodRun);

let kept: KeptDays | undefined;

async function start(options: Partial<Parameters<typeof keepDays>[0]> = {}): Promise<KeptDays> {
  kept = keepDays({ cronTimes, runs: allGood, ...options });
  kept.scheduler.start();
  await settle();
  return kept;
}

beforeEach(() => {
  vi.useFakeTimers({ now: noon });
});
afterEach(async () => {
  const closed = kept?.scheduler.close();
  for (const { end } of kept?.reviews ?? []) await end(new Error('the test is over'));
  await closed;
  vi.useRealTimers();
});

describe('the scheduler at a cron time', () => {
  it('does not miss a cron time that comes during the previous check', async () => {
    let answer = () => {};
    const ledgerAnswers = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { begun } = await start({ ledgerAnswers });
    await goTo(slotOf21st);
    answer();
    await settle();
    expect(begun()).toEqual(['2026-11-20']);
  });
});

describe('the scheduler after being down for three nights', () => {
  const backAt = new Date('2026-11-23T09:00:00Z');
  beforeEach(() => {
    vi.setSystemTime(backAt);
  });

  it('reviews each missed day once, one at a time: last night’s, then the oldest first', async () => {
    const { begun, reviews } = await start();
    expect(begun()).toEqual(['2026-11-22']);
    for (const count of [1, 2, 3]) {
      expect(reviews).toHaveLength(count);
      await reviews[count - 1]?.end('succeeded');
    }
    await vi.advanceTimersByTimeAsync(4 * 60 * minuteMs);
    expect(begun()).toEqual(['2026-11-22', '2026-11-20', '2026-11-21']);
  });

  it('does not delay the next night because of a missed day', async () => {
    const { begun, reviews } = await start();
    await reviews[0]?.end('succeeded');
    const cronTime = new Date('2026-11-24T01:30:00Z');
    await goTo(cronTime);
    expect(begun()).toEqual(['2026-11-22', '2026-11-20', '2026-11-23']);
    await reviews[1]?.end('succeeded');
    expect(begun()).toHaveLength(3);
    await reviews[2]?.end('succeeded');
    expect(begun()).toEqual(['2026-11-22', '2026-11-20', '2026-11-23', '2026-11-21']);
  });

  it.each([
    ['throws', new Error('out of order'), 'due-day-failed'],
    ['finds the ledger away', new LedgerAwayError('postgres://ledger'), 'due-day-failed'],
    ['finds others at work on it', new DayBusyError('2026-11-22 is being run'), 'day-busy'],
  ])('a review that %s is tried again at the next check, after the other days', async (_, error, type) => {
    const { begun, reviews, events } = await start();
    await reviews[0]?.end(error);
    expect(events.map((event) => event.type)).toEqual(['due-day-started', type, 'due-day-started']);
    await reviews[1]?.end('succeeded');
    await reviews[2]?.end('succeeded');
    expect(begun()).toEqual(['2026-11-22', '2026-11-20', '2026-11-21']);
    await vi.advanceTimersByTimeAsync(30 * minuteMs);
    expect(begun().slice(3)).toEqual(['2026-11-22']);
  });
});

describe('the scheduler every resumeMinutes', () => {
  it('resumes a failed run after its rest, until it succeeds', async () => {
    const failure = failureOf('retryable');
    const failed = runOf('2026-11-19', 'failed', noon, { failure });
    const { begun, reviews } = await start({ runs: [...allGood, failed] });
    expect(begun()).toEqual([]);
    await vi.advanceTimersByTimeAsync(30 * minuteMs);
    expect(begun()).toEqual(['2026-11-19']);
    await reviews[0]?.end('failed', { failure });
    expect(begun()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(30 * minuteMs);
    expect(begun()).toHaveLength(2);
    await reviews[1]?.end('succeeded');
    await vi.advanceTimersByTimeAsync(5 * 60 * minuteMs);
    expect(begun()).toHaveLength(2);
  });

  it('never reviews a day twice at once, even if it is due in two ways', async () => {
    const { runs, begun } = await start({ runs: [...allGood, inTime('2026-11-20')] });
    expect(begun()).toEqual(['2026-11-20']);
    // The resumed run passes through other states.
    runs.set('2026-11-20', runOf('2026-11-20', 'delivering', noon));
    await goTo(slotOf21st);
    expect(begun()).toEqual(['2026-11-20']);
  });
});

it.each([false, true])(
  'the scheduler that is closed, or asked to stop (%s), aborts the review in progress, waits for it, and starts nothing more',
  async (isAsked) => {
    vi.setSystemTime(new Date('2026-11-23T09:00:00Z'));
    const { scheduler, stopper, reviews, begun } = await start();
    if (isAsked) stopper.abort();
    let isClosed = false;
    const closed = scheduler.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect([reviews[0]?.signal.aborted, isClosed]).toEqual([true, false]);
    await reviews[0]?.end('delivering');
    await closed;
    await vi.advanceTimersByTimeAsync(24 * 60 * minuteMs);
    expect(begun()).toEqual(['2026-11-22']);
    expect(vi.getTimerCount()).toBe(0);
  },
);

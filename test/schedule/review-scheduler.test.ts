import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BusinessDay } from '../../src/booking/business-day.js';
import { LedgerAwayError } from '../../src/ledger/errors.js';
import { DayBusyError } from '../../src/review/day/join-run.js';
import { isActive, type Run, type RunState } from '../../src/rules/run.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import type { SchedulerEvent } from '../../src/schedule/events.js';
import {
  createReviewScheduler,
  type ReviewSchedulerParts,
  type Scheduler,
} from '../../src/schedule/scheduler.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { failureOf, noRuns, runOf } from './ledger-days.js';

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
  kept = keepDays({ runs: allGood, ...options });
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
    // It rests from its end, for half of the time between two checks.
    await vi.advanceTimersByTimeAsync(10 * minuteMs);
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

describe('the scheduler and a late source', () => {
  const giveUpAt = Date.parse('2026-11-21T11:00:00Z');
  const missing = { class: 'data', code: 'missing', message: 'it does not exist' } as const;
  const lateAt = (collectStartedAt: number) => ({
    ...{ failure: missing, startedAt: slotOf21st.getTime(), collectStartedAt },
  });
  const isGivenUp = ({ type }: { readonly type: string }) => type === 'source-given-up';
  beforeEach(() => {
    vi.setSystemTime(slotOf21st.getTime() - minuteMs);
  });

  it('tries for the last time when it gives up, even if it would rest longer', async () => {
    const { scheduler, reviews, events } = await start({
      timing: { catchUpDays: 0, resumeMinutes: 180 },
      onReview: ({ end }) => void end('failed', lateAt(Date.now())),
    });
    await vi.advanceTimersByTimeAsync(minuteMs);
    await vi.advanceTimersByTimeAsync(giveUpAt - 1 - Date.now());
    expect(events.some(isGivenUp)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(reviews.filter(({ at }) => Date.parse(at) >= giveUpAt)).toHaveLength(1);
    expect(events.filter(isGivenUp)).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(6 * 3_600_000);
    expect(reviews.at(-1)?.at).toBe('2026-11-21T11:00:00.000Z');
    await scheduler.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives up as soon as the last try ends, if that takes longer', async () => {
    let last: Review | undefined;
    const { scheduler, events, runs } = await start({
      timing: { catchUpDays: 0, resumeMinutes: 1_440 },
      onReview(review) {
        if (Date.now() < giveUpAt) void review.end('failed', lateAt(Date.now()));
        else {
          last = review;
          runs.set(review.day, runOf(review.day, 'collecting', slotOf21st));
        }
      },
    });
    await vi.advanceTimersByTimeAsync(minuteMs);
    await vi.advanceTimersByTimeAsync(giveUpAt + 90_000 - Date.now());
    expect(events.some(isGivenUp)).toBe(false);
    await last?.end('failed', lateAt(giveUpAt));
    expect(events.filter(isGivenUp)).toHaveLength(1);
    await scheduler.close();
  });
});

interface Review {
  readonly day: string;
  readonly at: string;
  readonly signal: AbortSignal;
  /** Ends it, as a run in this state; or, given an error, with that error. */
  end(outcome: RunState | Error, changes?: Partial<Run>): Promise<void>;
}

interface KeptDays {
  readonly runs: Map<string, Run>;
  /** All that were started, in order. */
  readonly reviews: Review[];
  readonly events: SchedulerEvent[];
  readonly stopper: AbortController;
  readonly scheduler: Scheduler;
  /** Days in the order of their start, such as `2026-11-20`. */
  begun(): string[];
}

/** A scheduler over days whose state a test decides, under vitest's timers. A review lasts until the test ends it. */
function keepDays({
  runs: known = [],
  timing = { catchUpDays: 3, resumeMinutes: 30 },
  onReview = () => {},
  ledgerAnswers = Promise.resolve(),
}: {
  runs?: readonly Run[];
  timing?: ReviewSchedulerParts['timing'];
  onReview?: (review: Review) => void;
  /** Queries to the ledger wait for it. */
  ledgerAnswers?: Promise<void>;
}): KeptDays {
  const runs = new Map(known.map((run) => [run.day, run]));
  const reviews: Review[] = [];
  const events: SchedulerEvent[] = [];
  const stopper = new AbortController();

  function review(day: BusinessDay, signal: AbortSignal): Promise<void> {
    const at = new Date();
    return new Promise((resolve, reject) => {
      const begun: Review = {
        day: day.iso,
        at: at.toISOString(),
        signal,
        async end(outcome, changes) {
          if (outcome instanceof Error) reject(outcome);
          else {
            const ended = { finishedAt: Date.now(), ...changes };
            runs.set(day.iso, runOf(day.iso, outcome, at, ended));
            resolve();
          }
          await settle();
        },
      };
      reviews.push(begun);
      onReview(begun);
    });
  }

  const scheduler = createReviewScheduler({
    ledger: fakeLedger({
      runs: {
        async summarise() {
          await ledgerAnswers;
          const firstDay = [...runs.keys()].sort()[0];
          return { runsByState: noRuns, ...(firstDay !== undefined && { firstDay }) };
        },
        async replaceFailure(runId, { before, failure }) {
          const run = [...runs.values()].find(({ id }) => id === runId);
          if (run?.failure?.code !== before || !run) return false;
          runs.set(run.day, { ...run, failure });
          return true;
        },
        listActive: async () => [...runs.values()].filter(isActive),
        async listLatest({ from, to }) {
          return [...runs.values()].filter(({ day }) => day >= from && day <= to);
        },
      },
    }),
    giveUps: createCronTimes('0 12 * * *', cronTimes.zone),
    cronTimes,
    review,
    timing,
    clock: () => Date.now(),
    notify: (event) => void events.push(event),
    signal: stopper.signal,
  });

  return {
    runs,
    reviews,
    events,
    stopper,
    scheduler,
    begun: () => reviews.map(({ day }) => day),
  };
}

/** Lets everything happen that waits for no timer. */
async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

/** Sleeps until a minute before: the watch of the cron times looks at the clock too often to be followed for weeks. */
async function goTo(instant: Date): Promise<void> {
  vi.setSystemTime(Math.max(Date.now(), instant.getTime() - 60_000));
  await vi.advanceTimersByTimeAsync(instant.getTime() - Date.now());
  await settle();
}

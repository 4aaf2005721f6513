import { vi } from 'vitest';
import type { BusinessDay } from '../../src/booking/business-day.js';
import { isActive, type Run, type RunState } from '../../src/rules/run.js';
import { type CronTimes, createCronTimes } from '../../src/schedule/cron-times.js';
import type { SchedulerEvent } from '../../src/schedule/events.js';
import { createReviewScheduler, type ReviewSchedulerParts } from '../../src/schedule/review-scheduler.js';
import type { Scheduler } from '../../src/schedule/scheduler.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { noRuns, runOf } from './ledger-days.js';

export interface Review {
  readonly day: string;
  readonly at: string;
  readonly signal: AbortSignal;
  /** Ends it, as a run in this state; or, given an error, with that error. */
  end(outcome: RunState | Error, changes?: Partial<Run>): Promise<void>;
}

export interface KeptDays {
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
export function keepDays({
  cronTimes,
  runs: known = [],
  timing = { catchUpDays: 3, resumeMinutes: 30 },
  onReview = () => {},
  ledgerAnswers = Promise.resolve(),
}: {
  cronTimes: CronTimes;
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
export async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

/** Sleeps until a minute before: the watch of the cron times looks at the clock too often to be followed for weeks. */
export async function goTo(instant: Date): Promise<void> {
  vi.setSystemTime(Math.max(Date.now(), instant.getTime() - 60_000));
  await vi.advanceTimersByTimeAsync(instant.getTime() - Date.now());
  await settle();
}

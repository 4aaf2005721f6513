import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Run } from '../rules/run.js';
import { type CronTimes, watchCronTimes } from './cron-times.js';
import { type DueDay, describeGivenUp, findDayRange, findDueDays, isToGiveUp } from './due-days.js';
import {
  createRounds,
  createScheduler,
  reviewDueDay,
  type Scheduler,
  type SchedulerParts,
} from './scheduler.js';

/**
 * The due days of one group are reviewed one after another, and the groups run side by side: a result that has not arrived
 * delays neither another day's nightly review nor the resuming of a failed run. The order matters: catching up waits for a
 * nightly review that was woken before it.
 */
const groups = ['nightly', 'catch-up', 'resume', 'results'] as const;
type Group = (typeof groups)[number];

function groupOf({ kind, isNightly }: DueDay): Group {
  if (kind === 'resume') return 'resume';
  if (kind === 'await') return 'results';
  return isNightly ? 'nightly' : 'catch-up';
}

export interface ReviewSchedulerParts extends Omit<SchedulerParts, 'checkMs'> {
  readonly ledger: Ledger;
  /** The time of day at which a missing source is given up. */
  readonly giveUps: CronTimes;
  /** Reviews a day. It must end soon after the signal aborts. */
  readonly review: (day: BusinessDay, signal: AbortSignal) => Promise<unknown>;
  readonly timing: { readonly catchUpDays: number; readonly resumeMinutes: number };
}

/**
 * Runs the nightly review: at the start, at each cron time and every `resumeMinutes` it asks the ledger which days are due
 * (due-days.ts) and reviews them: the nightly day first, then the missed days, oldest first, one at a time. Alongside, one at
 * a time, it resumes failed runs. A failed run rests for at least half of `resumeMinutes`, so that several processes don't
 * take turns on it.
 *
 * No failure ends it: a day that was not done stays due, and the next check finds it. Any number of processes may run it: the
 * ledger makes sure that only one works on a day.
 */
export function createReviewScheduler(parts: ReviewSchedulerParts): Scheduler {
  const { ledger, cronTimes, giveUps, review, timing, clock, notify } = parts;
  const resumeMs = timing.resumeMinutes * 60_000;
  const watchedSince = new Date(clock());
  const closing = new AbortController();
  const stop = AbortSignal.any([parts.signal, closing.signal]);
  const work = Object.fromEntries(
    groups.map((group) => [group, createRounds(() => reviewDueDays(group), stop)]),
  ) as Record<Group, ReturnType<typeof createRounds>>;
  const daysInProgress = new Set<string>();

  /** No two groups work on the same day at once, and a group tries a day once in each round. */
  async function reviewDueDays(group: Group): Promise<void> {
    const tried = new Set<string>();
    for (;;) {
      const dueDay = await nextDueDay(group, tried);
      if (!dueDay || stop.aborted) return;
      const { iso } = dueDay.day;
      tried.add(iso);
      daysInProgress.add(iso);
      await reviewDueDay(dueDay, () => review(dueDay.day, stop), notify);
      daysInProgress.delete(iso);
    }
  }

  async function nextDueDay(group: Group, tried: ReadonlySet<string>): Promise<DueDay | undefined> {
    // The nightly review goes before the days that were missed.
    if (group === 'catch-up') await work.nightly.idle();
    if (stop.aborted) return undefined;
    const dueDays = await readDueDays();
    const isOpen = ({ day }: DueDay) => !tried.has(day.iso) && !daysInProgress.has(day.iso);
    return dueDays.find((dueDay) => groupOf(dueDay) === group && isOpen(dueDay));
  }

  /** Most urgent first. */
  async function readDueDays(): Promise<readonly DueDay[]> {
    const now = new Date(clock());
    const { catchUpDays } = timing;
    const range = findDayRange(cronTimes, now, catchUpDays);
    if (!range) return [];
    try {
      const [{ firstDay }, latestRuns, awaiting] = await Promise.all([
        ledger.runs.summarise(businessDayAt(now, cronTimes.zone)),
        ledger.runs.listLatest({ from: range.from.iso, to: range.to.iso }),
        ledger.runs.listActive(),
      ]);
      await giveUpSources(latestRuns, now);
      return findDueDays({
        ...{ cronTimes, giveUps, now, watchedSince, catchUpDays, restMs: resumeMs / 2 },
        ...{ firstDay, latestRuns, awaiting },
      });
    } catch (error) {
      notify({ type: 'check-failed', error });
      return [];
    }
  }

  /** Marks runs whose source did not arrive in time: of all processes, the one that marks a run reports it. */
  async function giveUpSources(runs: readonly Run[], now: Date): Promise<void> {
    for (const run of runs.filter((one) => isToGiveUp(one, giveUps))) {
      const change = { before: run.failure?.code, failure: describeGivenUp(run), at: now.getTime() };
      if (await ledger.runs.replaceFailure(run.id, change)) notify({ type: 'source-given-up', run });
    }
  }

  const checks = createScheduler({ ...parts, checkMs: resumeMs, signal: stop }, async () => {
    for (const group of groups) work[group].ask();
  });
  return {
    start() {
      checks.start();
      // The last try for a missing source comes when it is due rather than with the next check.
      void watchCronTimes(giveUps, checks.ask, stop);
    },
    async close() {
      closing.abort();
      await Promise.all(groups.map((group) => work[group].idle()));
    },
  };
}

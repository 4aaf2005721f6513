import {
  type BusinessDay,
  businessDayAt,
  createBusinessDay,
  goBack,
  holdsInstants,
  listDays,
} from '../booking/business-day.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { isOverFor, wasCollectedEarly } from '../rules/good-day.js';
import {
  hasUnexpectedCount,
  hasWork,
  isActive,
  mayCompleteDay,
  type Run,
  type RunFailure,
} from '../rules/run.js';
import { awaitsSource, dropTriedUntil, mayTryAgain } from '../rules/try-again.js';
import { businessDayOf, type CronTimes } from './cron-times.js';

/** A day that is due, and what to do with it. */
export interface DueDay {
  readonly day: BusinessDay;
  /**
   * `start`: it has no run, or only a cancelled one; a day whose run a person cancelled is never due. `continue`: its run is
   * active; where its owner is alive, the day turns out to be busy, which does no harm. `top-up`: it was collected before it
   * ended, its last run was one of trigger `today`, finished or not, or its source held another number of records than the hook expected. `resume`: its run failed for a reason that may have passed. `await`: it still has
   * time for its result; where its owner is alive, see `continue`. `result`: its result came after that.
   */
  readonly kind: 'start' | 'continue' | 'top-up' | 'resume' | 'await' | 'result';
  /** True for the day of the last cron time. */
  readonly isNightly: boolean;
}

export interface DueDaysQuestion {
  readonly cronTimes: CronTimes;
  readonly now: Date;
  /** When this process started to watch the schedule: a cron time since then makes its day due even in an empty ledger. */
  readonly watchedSince: Date;
  /** How many days to catch up on, besides those of the last cron time. */
  readonly catchUpDays: number;
  /** How long to wait before a failed run is resumed. */
  readonly restMs: number;
  /** The time of day from which a missing source is no longer waited for. */
  readonly giveUps: CronTimes;
  /** The first day that the ledger knows; undefined for an empty ledger. */
  readonly firstDay: string | undefined;
  /** The newest run of each day of `findDayRange` that has one. */
  readonly latestRuns: readonly Run[];
  /** Runs that may await their result, of any day. */
  readonly awaiting: readonly Run[];
}

/**
 * The days that are due now, most urgent first: the day of the last cron time, then the others, oldest first.
 *
 * **Due** are the days of the last cron time and the `catchUpDays` days before them. A cron time covers all days since the cron time
 * of an earlier day: after a weekend without cron times, Monday's covers Friday, Saturday and Sunday, so that a pattern that
 * doesn't fire daily leaves no day out. Several cron times on one day cover the same day: the later ones find it done, or
 * try again. With `catchUpDays` 0 only the days of the last cron time are due.
 *
 * Days before the first day in the ledger are not due: nobody asked for them when the job was set up. The exception is
 * the last cron time's own day, where the cron time passed while this process was watching: in an empty ledger nothing is due at
 * the start, and the first day becomes due with the first cron time.
 *
 * A `succeeded` day is done only if its collect began after the day had ended in its zone, and found as many records as
 * the end-of-day hook expected, if it was called with a number.
 *
 * **Resumed** are runs of the same days, and of later days up to today (the end-of-day hook may have started one), that failed at least
 * `restMs` ago and may be tried again without a person (`mayTryAgain`). One whose source was not there yet is tried a last time when it is
 * no longer waited for, whenever the previous try was. A run that still has time for its result is continued whatever its day.
 */
export function findDueDays(question: DueDaysQuestion): DueDay[] {
  const { cronTimes, now, watchedSince, firstDay, latestRuns } = question;
  const cronTime = cronTimes.last(now);
  const range = findDayRange(cronTimes, now, question.catchUpDays);
  if (!cronTime || !range) return [];
  const nightly = businessDayOf(cronTime, cronTimes.zone).iso;
  const isWatched = cronTime >= watchedSince;
  const isKnown = ({ iso }: BusinessDay) => firstDay !== undefined && iso >= firstDay;
  const runs = new Map(latestRuns.map((run) => [run.day, run]));

  const dueDays = listDays(range.from.iso, range.to.iso).flatMap((iso): DueDay[] => {
    const day = createBusinessDay(iso, cronTimes.zone);
    if (!holdsInstants(day)) return [];
    const isNightly = day.iso === nightly;
    const isDue = day.iso <= nightly && (isKnown(day) || (isNightly && isWatched));
    const kind = judgeDay(day, runs.get(day.iso), isDue, question);
    return kind ? [{ day, kind, isNightly }] : [];
  });
  const earlier = question.awaiting
    .filter((run) => run.day < range.from.iso && isInTime(run))
    .map(
      ({ day }): DueDay => ({ day: createBusinessDay(day, cronTimes.zone), kind: 'await', isNightly: false }),
    );
  return [
    ...dueDays.filter(({ isNightly }) => isNightly),
    ...dueDays.filter(({ isNightly }) => !isNightly),
    ...earlier,
  ];
}

/** The days that may be due, both ends included. Undefined while no cron time has ever passed. */
export function findDayRange(cronTimes: CronTimes, now: Date, catchUpDays: number) {
  const cronTime = cronTimes.last(now);
  if (!cronTime) return undefined;
  const cronTimeDay = businessDayAt(cronTime, cronTimes.zone);
  const cronTimeBefore = cronTimes.last(new Date(cronTimeDay.firstInstant.getTime() - 1));
  const nightly = businessDayOf(cronTime, cronTimes.zone);
  const from = goBack(cronTimeBefore ? businessDayAt(cronTimeBefore, cronTimes.zone) : nightly, catchUpDays);
  return { from, to: businessDayAt(now, cronTimes.zone) };
}

/**
 * The first day that callers of the hook may ask for: that of the catch-up window, or an earlier one that the ledger
 * knows. Any day before would make all days since look as if their runs were missing.
 *
 * @param day the ledger is asked only if this is before the window
 */
export async function findFirstAskableDay(
  day: BusinessDay,
  ledger: ReadOnlyLedger,
  cronTimes: CronTimes,
  now: Date,
  catchUpDays: number,
): Promise<string> {
  const today = businessDayAt(now, cronTimes.zone);
  const { iso: from } =
    findDayRange(cronTimes, now, catchUpDays)?.from ?? goBack(today.previous(), catchUpDays);
  if (day.iso >= from) return from;
  const { firstDay } = await ledger.runs.summarise(today);
  return firstDay !== undefined && firstDay < from ? firstDay : from;
}

function judgeDay(
  day: BusinessDay,
  run: Run | undefined,
  isDue: boolean,
  { now, restMs, giveUps }: DueDaysQuestion,
): DueDay['kind'] | undefined {
  if (run?.cancelReason !== undefined) return undefined;
  if (!run) return isDue ? 'start' : undefined;
  if (!mayCompleteDay(run)) return isDue ? 'top-up' : undefined;
  if (run.state === 'cancelled') return isDue ? 'start' : undefined;
  if (run.state === 'awaiting-result') return isInTime(run) ? 'await' : undefined;
  if (isActive(run)) return 'continue';
  if (run.state === 'succeeded') {
    // By a clock that is ahead, a run of now would be as early as the one before.
    const isOver = isOverFor(run, day, now.getTime());
    const isIncomplete = (wasCollectedEarly(day, run) && isOver) || hasUnexpectedCount(run);
    return isDue && isIncomplete ? 'top-up' : undefined;
  }
  if (!mayTryAgain(run, 'schedule') || isToGiveUp(run, giveUps)) return undefined;
  const hasRested = now.getTime() - (run.finishedAt ?? run.startedAt) >= restMs;
  const isLastTry = now.getTime() >= (findSourceDeadline(run, giveUps) ?? Infinity);
  return hasRested || isLastTry ? 'resume' : undefined;
}

/** Somebody has to look for its result; once that is overdue, the scheduler of late results looks. */
function isInTime(run: Run): boolean {
  return run.state === 'awaiting-result' && hasWork(run);
}

/**
 * Until when a day whose source is not there yet is tried again, epoch milliseconds: the first time of day to give up after the
 * cron time or the hook's call that started its run. Undefined for any other run; one that a person started is that person's.
 *
 * @param giveUps the time of day at which to give up, every day
 */
export function findSourceDeadline(run: Run, giveUps: CronTimes): number | undefined {
  return awaitsSource(run) ? giveUps.next(new Date(run.startedAt))?.getTime() : undefined;
}

/** Whether the source of a run was not there even at its last try, which is the first one after that time. */
export function isToGiveUp(run: Run, giveUps: CronTimes): boolean {
  const deadline = findSourceDeadline(run, giveUps);
  return deadline !== undefined && (run.collectStartedAt ?? run.startedAt) >= deadline;
}

/** How a run fails for good. */
export function describeGivenUp({ day, failure }: Run): RunFailure {
  return {
    class: 'data',
    code: 'source-given-up',
    message: `${dropTriedUntil(failure?.message ?? 'the source is missing')}; it did not arrive in time and is not tried again: once it is there, run ${day} again`,
  };
}

/** The pattern of a time of day such as 12:00. */
export function toDailyPattern(time: string): string {
  const [hours, minutes] = time.split(':').map(Number);
  return `${minutes} ${hours} * * *`;
}

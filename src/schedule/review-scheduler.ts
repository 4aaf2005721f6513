import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Run } from '../ledger/run.js';
import { DayBusyError } from '../review/refusals.js';
import { type DueDay, findDayRange, findDueDays } from './due-days.js';
import { describeGivenUp, isToGiveUp, lastTryMs } from './late-source.js';
import type { Schedule } from './schedule.js';
import type { NotifyScheduler } from './scheduler-event.js';
import { createSerialGroups, type Group } from './serial-groups.js';
import type { Slots } from './slots.js';

/** A timer set for longer fires at once. */
const longestTimerMs = 2 ** 31 - 1;
type TimerName = 'resume' | 'last-try' | 'give-up';
/** The order matters: catching up waits for a nightly review that was woken before it. */
const groups: readonly Group[] = ['nightly', 'catch-up', 'resume', 'results'];

export interface ScheduledReview {
  readonly trigger: 'schedule';
  /** The day was reviewed before it ended: send only what is not delivered yet. */
  readonly topsUp: boolean;
}

export interface ReviewSchedulerParts {
  readonly ledger: Ledger;
  readonly schedule: Schedule;
  readonly slots: Slots;
  /** The time of day at which a missing source is given up. */
  readonly giveUps: Slots;
  /** Reviews a day. It must end soon after the signal aborts. */
  readonly review: (day: BusinessDay, request: ScheduledReview, signal: AbortSignal) => Promise<unknown>;
  readonly timing: { readonly catchUpDays: number; readonly resumeMinutes: number };
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly notify: NotifyScheduler;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

export interface ReviewScheduler {
  /** Checks for due days, and starts to watch the schedule. Called once. */
  start(): void;
  /** Starts no more reviews, aborts those in progress, and waits for them. Idempotent. */
  close(): Promise<void>;
}

/**
 * Runs the nightly review: at the start, at each slot and every `resumeMinutes` it asks the ledger which days are due
 * (due-days.ts) and reviews them: the nightly day first, then the missed days, oldest first, one at a time. Alongside, one at
 * a time, it resumes failed runs. A failed run rests for at least half of `resumeMinutes`, so that several processes don't
 * take turns on it.
 *
 * No failure ends it: a day that was not done stays due, and the next check finds it. Any number of processes may run it: the
 * ledger makes sure that only one works on a day.
 */
export function createReviewScheduler(parts: ReviewSchedulerParts): ReviewScheduler {
  const { schedule, timing, clock } = parts;
  const resumeMs = timing.resumeMinutes * 60_000;
  const watchedSince = new Date(clock());
  const closing = new AbortController();
  const stop = AbortSignal.any([parts.signal, closing.signal]);
  const timers = new Map<TimerName, NodeJS.Timeout>();
  let closed: Promise<void> | undefined;

  const work = createSerialGroups({
    findDueDays: () => readDueDays(parts, { watchedSince, restMs: resumeMs / 2 }),
    async perform(dueDay) {
      await perform(dueDay, parts, stop);
      // The last try may end after the time to give up.
      if (dueDay.kind === 'resume' && !stop.aborted) await giveUpSourceOf(dueDay.day, parts);
    },
    isStopped: () => stop.aborted,
  });

  function check(): void {
    if (stop.aborted) return;
    // None of these rejects.
    for (const group of groups) void work.wake(group);
  }

  function setTimer(name: TimerName, ms: number, act: () => void): void {
    if (!stop.aborted) timers.set(name, setTimeout(act, Math.min(ms, longestTimerMs)));
  }

  function checkEveryResumeMinutes(): void {
    setTimer('resume', resumeMs, () => {
      check();
      checkEveryResumeMinutes();
    });
  }

  function setTimerAt(name: TimerName, at: number, act: () => void): void {
    setTimer(name, Math.max(0, at - clock()), () => {
      // A timer fires early after a long wait, or where the clock was set back.
      if (clock() < at) setTimerAt(name, at, act);
      else act();
    });
  }

  /** The last try for a missing source, and giving it up, come when they are due rather than with the next check. */
  function checkAtGiveUp(): void {
    const giveUp = parts.giveUps.next(new Date(clock()))?.getTime();
    if (giveUp === undefined) return;
    setTimerAt('last-try', giveUp - lastTryMs, check);
    setTimerAt('give-up', giveUp, () => {
      check();
      checkAtGiveUp();
    });
  }

  function clearTimers(): void {
    for (const timer of timers.values()) clearTimeout(timer);
  }

  async function close(): Promise<void> {
    closing.abort();
    clearTimers();
    schedule.close();
    await work.idle();
  }

  return {
    start() {
      if (stop.aborted) return;
      stop.addEventListener('abort', clearTimers, { once: true });
      check();
      checkEveryResumeMinutes();
      checkAtGiveUp();
      schedule.start(check);
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}

async function readDueDays(
  { ledger, slots, giveUps, timing, clock, notify }: ReviewSchedulerParts,
  { watchedSince, restMs }: { watchedSince: Date; restMs: number },
): Promise<readonly DueDay[]> {
  const now = new Date(clock());
  const range = findDayRange({ slots, now, catchUpDays: timing.catchUpDays });
  if (!range) return [];
  try {
    const [{ firstDay }, latestRuns] = await Promise.all([
      ledger.runs.summarise(businessDayAt(now, slots.zone)),
      ledger.runs.listLatest({ from: range.from.iso, to: range.to.iso }),
    ]);
    await giveUpSources(latestRuns, now, { ledger, giveUps, notify });
    return findDueDays({
      slots,
      giveUps,
      now,
      watchedSince,
      catchUpDays: timing.catchUpDays,
      restMs,
      firstDay,
      latestRuns,
    });
  } catch (error) {
    notify({ type: 'check-failed', error });
    return [];
  }
}

/** Marks runs whose source did not arrive in time: of all processes, the one that marks a run reports it. */
async function giveUpSources(
  runs: readonly Run[],
  now: Date,
  { ledger, giveUps, notify }: Pick<ReviewSchedulerParts, 'ledger' | 'giveUps' | 'notify'>,
): Promise<void> {
  for (const run of runs.filter((one) => isToGiveUp(one, giveUps, now.getTime()))) {
    const change = { before: run.failure?.code, failure: describeGivenUp(run), at: now.getTime() };
    if (await ledger.runs.replaceFailure(run.id, change)) notify({ type: 'source-given-up', run });
  }
}

async function giveUpSourceOf(
  { iso }: BusinessDay,
  { ledger, giveUps, clock, notify }: ReviewSchedulerParts,
): Promise<void> {
  try {
    const runs = await ledger.runs.listLatest({ from: iso, to: iso });
    await giveUpSources(runs, new Date(clock()), { ledger, giveUps, notify });
  } catch (error) {
    notify({ type: 'check-failed', error });
  }
}

async function perform(
  dueDay: DueDay,
  { review, notify }: Pick<ReviewSchedulerParts, 'review' | 'notify'>,
  stop: AbortSignal,
): Promise<void> {
  notify({ type: 'due-day-started', dueDay });
  try {
    await review(dueDay.day, { trigger: 'schedule', topsUp: dueDay.kind === 'top-up' }, stop);
    notify({ type: 'due-day-ended', dueDay });
  } catch (error) {
    notify(
      error instanceof DayBusyError
        ? { type: 'day-busy', dueDay }
        : { type: 'due-day-failed', dueDay, error },
    );
  }
}

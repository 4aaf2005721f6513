import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Run } from '../ledger/run.js';
import { DayBusyError } from '../review/refusals.js';
import {
  type DueDay,
  describeGivenUp,
  findDayRange,
  findDueDays,
  isToGiveUp,
  lastTryMs,
} from './due-days.js';
import type { NotifyScheduler } from './scheduler-event.js';
import type { Schedule, Slots } from './slots.js';

/**
 * The due days of one group are reviewed one after another, and the groups run side by side: a result that has not arrived
 * delays neither another day's nightly review nor the resuming of a failed run. The order matters: catching up waits for a
 * nightly review that was woken before it.
 */
const groups = ['nightly', 'catch-up', 'resume', 'results'] as const;
type Group = (typeof groups)[number];

function groupOf({ kind, isNightly }: DueDay): Group {
  if (kind === 'resume') return 'resume';
  if (kind === 'look') return 'results';
  return isNightly ? 'nightly' : 'catch-up';
}

export interface ReviewSchedulerParts {
  readonly ledger: Ledger;
  readonly schedule: Schedule;
  readonly slots: Slots;
  /** The time of day at which a missing source is given up. */
  readonly giveUps: Slots;
  /** Reviews a day. It must end soon after the signal aborts. */
  readonly review: (day: BusinessDay, signal: AbortSignal) => Promise<unknown>;
  readonly timing: { readonly catchUpDays: number; readonly resumeMinutes: number };
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly notify: NotifyScheduler;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

export type ReviewScheduler = ReturnType<typeof createReviewScheduler>;

/**
 * Runs the nightly review: at the start, at each slot and every `resumeMinutes` it asks the ledger which days are due
 * (due-days.ts) and reviews them: the nightly day first, then the missed days, oldest first, one at a time. Alongside, one at
 * a time, it resumes failed runs. A failed run rests for at least half of `resumeMinutes`, so that several processes don't
 * take turns on it.
 *
 * No failure ends it: a day that was not done stays due, and the next check finds it. Any number of processes may run it: the
 * ledger makes sure that only one works on a day.
 */
export function createReviewScheduler(parts: ReviewSchedulerParts) {
  const { schedule, giveUps, timing, clock } = parts;
  const resumeMs = timing.resumeMinutes * 60_000;
  const watchedSince = new Date(clock());
  const closing = new AbortController();
  const stop = AbortSignal.any([parts.signal, closing.signal]);
  let checking: NodeJS.Timeout | undefined;
  let givingUp: NodeJS.Timeout | undefined;

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

  /** The last try for a missing source, and giving it up, come when they are due rather than with the next check. */
  function checkAtGiveUp(): void {
    const giveUp = giveUps.next(new Date(clock()))?.getTime();
    if (giveUp === undefined || stop.aborted) return;
    const lastTry = giveUp - lastTryMs;
    const at = clock() < lastTry ? lastTry : giveUp;
    givingUp = setTimeout(() => {
      // A timer fires early after a long wait, or where the clock was set back.
      if (clock() >= at) check();
      checkAtGiveUp();
    }, at - clock());
  }

  function clearTimers(): void {
    clearInterval(checking);
    clearTimeout(givingUp);
  }

  return {
    /** Checks for due days, and starts to watch the schedule. Called once. */
    start(): void {
      if (stop.aborted) return;
      stop.addEventListener('abort', clearTimers, { once: true });
      check();
      checking = setInterval(check, resumeMs);
      checkAtGiveUp();
      schedule.start(check);
    },
    /** Starts no more reviews, aborts those in progress, and waits for them. Idempotent. */
    async close(): Promise<void> {
      closing.abort();
      schedule.close();
      await work.idle();
    },
  };
}

interface SerialGroupsParts {
  /** The days that are due now, most urgent first. It must not reject. */
  readonly findDueDays: () => Promise<readonly DueDay[]>;
  /** It must not reject. */
  readonly perform: (dueDay: DueDay) => Promise<void>;
  readonly isStopped: () => boolean;
}

/** No two groups work on the same day at once, and a group tries a day once each time it is woken. */
function createSerialGroups({ findDueDays, perform, isStopped }: SerialGroupsParts) {
  const working = new Map<Group, Promise<void>>();
  const wokenAgain = new Set<Group>();
  const daysInProgress = new Set<string>();

  async function work(group: Group): Promise<void> {
    const tried = new Set<string>();
    for (;;) {
      wokenAgain.delete(group);
      const dueDay = await nextDueDay(group, tried);
      if (isStopped()) return;
      if (dueDay) await performOnce(dueDay, tried);
      // The last answer is outdated if the group was woken again in the meantime.
      else if (!wokenAgain.has(group)) return;
    }
  }

  async function nextDueDay(group: Group, tried: ReadonlySet<string>): Promise<DueDay | undefined> {
    // The nightly review goes before the days that were missed.
    if (group === 'catch-up') await working.get('nightly');
    if (isStopped()) return undefined;
    const dueDays = await findDueDays();
    const isOpen = ({ day }: DueDay) => !tried.has(day.iso) && !daysInProgress.has(day.iso);
    return dueDays.find((dueDay) => groupOf(dueDay) === group && isOpen(dueDay));
  }

  async function performOnce(dueDay: DueDay, tried: Set<string>): Promise<void> {
    const day = dueDay.day.iso;
    tried.add(day);
    daysInProgress.add(day);
    try {
      await perform(dueDay);
    } finally {
      daysInProgress.delete(day);
    }
  }

  return {
    /** Makes the group fetch the due days and review them, until it has tried all of them. */
    wake(group: Group): Promise<void> {
      wokenAgain.add(group);
      const current = working.get(group) ?? work(group).finally(() => working.delete(group));
      working.set(group, current);
      return current;
    },
    /** Resolves when no group is working. */
    async idle(): Promise<void> {
      await Promise.all(working.values());
    },
  };
}

async function readDueDays(
  parts: ReviewSchedulerParts,
  { watchedSince, restMs }: { watchedSince: Date; restMs: number },
): Promise<readonly DueDay[]> {
  const { ledger, slots, giveUps, timing, clock, notify } = parts;
  const now = new Date(clock());
  const range = findDayRange({ slots, now, catchUpDays: timing.catchUpDays });
  if (!range) return [];
  try {
    const [{ firstDay }, latestRuns] = await Promise.all([
      ledger.runs.summarise(businessDayAt(now, slots.zone)),
      ledger.runs.listLatest({ from: range.from.iso, to: range.to.iso }),
    ]);
    await giveUpSources(latestRuns, now, parts);
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
  { ledger, giveUps, notify }: ReviewSchedulerParts,
): Promise<void> {
  for (const run of runs.filter((one) => isToGiveUp(one, giveUps, now.getTime()))) {
    const change = { before: run.failure?.code, failure: describeGivenUp(run), at: now.getTime() };
    if (await ledger.runs.replaceFailure(run.id, change)) notify({ type: 'source-given-up', run });
  }
}

async function giveUpSourceOf({ iso }: BusinessDay, parts: ReviewSchedulerParts): Promise<void> {
  try {
    const runs = await parts.ledger.runs.listLatest({ from: iso, to: iso });
    await giveUpSources(runs, new Date(parts.clock()), parts);
  } catch (error) {
    parts.notify({ type: 'check-failed', error });
  }
}

async function perform(
  dueDay: DueDay,
  { review, notify }: ReviewSchedulerParts,
  stop: AbortSignal,
): Promise<void> {
  notify({ type: 'due-day-started', dueDay });
  try {
    await review(dueDay.day, stop);
    notify({ type: 'due-day-ended', dueDay });
  } catch (error) {
    notify(
      error instanceof DayBusyError
        ? { type: 'day-busy', dueDay }
        : { type: 'due-day-failed', dueDay, error },
    );
  }
}

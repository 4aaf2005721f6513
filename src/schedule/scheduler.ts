import { type BusinessDay, businessDayAt, createBusinessDay } from '../booking/business-day.js';
import type { Ledger } from '../ledger/ledger.js';
import { SyncBusyError } from '../mappings/sync-mappings.js';
import { DayBusyError } from '../review/day/join-run.js';
import { isLateLookDue, isResultLookedFor } from '../review/file/late-result.js';
import { hasWork, type Run } from '../rules/run.js';
import { type CronTimes, watchCronTimes } from './cron-times.js';
import { type DueDay, describeGivenUp, findDayRange, findDueDays, isToGiveUp } from './due-days.js';
import type { NotifyScheduler } from './events.js';

export interface SchedulerParts {
  readonly cronTimes: CronTimes;
  /** How often to check besides the cron times: a cron time may pass unnoticed, and what failed is tried again. */
  readonly checkMs: number;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly notify: NotifyScheduler;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

export type Scheduler = Omit<ReturnType<typeof createScheduler>, 'ask'>;

/**
 * Checks at the start, at each cron time and every `checkMs`, one check at a time. What becomes due during a check is
 * checked right after it.
 *
 * @param check finds out what is due and does it. It must not reject, and must end soon after the signal aborts
 */
export function createScheduler(
  { cronTimes, checkMs, signal }: SchedulerParts,
  check: (stop: AbortSignal) => Promise<void>,
) {
  const closing = new AbortController();
  const stop = AbortSignal.any([signal, closing.signal]);
  const { ask, idle } = createRounds(check, stop);

  return {
    /** Checks as soon as no check is in progress. */
    ask,
    /** Checks for the first time, and starts to watch the cron times. Called once. */
    start(): void {
      if (stop.aborted) return;
      ask();
      const timer = setInterval(ask, checkMs);
      stop.addEventListener('abort', () => clearInterval(timer), { once: true });
      void watchCronTimes(cronTimes, ask, stop);
    },
    /** Starts no more checks, aborts the one in progress, and waits for it. Idempotent. */
    async close(): Promise<void> {
      closing.abort();
      await idle();
    },
  };
}

/**
 * Work that is done in rounds, one at a time: whoever asks during a round gets another one right after it.
 *
 * @param work must not reject
 */
export function createRounds(work: (stop: AbortSignal) => Promise<void>, stop: AbortSignal) {
  let current: Promise<void> | undefined;
  let isAskedAgain = false;

  async function workOn(): Promise<void> {
    do {
      isAskedAgain = false;
      await work(stop);
    } while (isAskedAgain && !stop.aborted);
    // In the same turn: whoever asks from now on begins another round.
    current = undefined;
  }

  return {
    ask(): void {
      if (stop.aborted) return;
      isAskedAgain = true;
      current ??= workOn();
    },
    /** Waits for the rounds in progress. */
    async idle(): Promise<void> {
      await current;
    },
  };
}

/** Reviews a day that is due, and says how that went. */
export async function reviewDueDay(
  dueDay: DueDay,
  review: () => Promise<unknown>,
  notify: NotifyScheduler,
): Promise<void> {
  notify({ type: 'due-day-started', dueDay });
  try {
    await review();
    notify({ type: 'due-day-ended', dueDay });
  } catch (error) {
    const isBusy = error instanceof DayBusyError;
    notify(isBusy ? { type: 'day-busy', dueDay } : { type: 'due-day-failed', dueDay, error });
  }
}

/**
 * Keeps the local copy up to date: a sync is due when none has ended since the last cron time. Failed syncs are resumed and missed
 * ones made up for. Of several processes one syncs; the others find it busy, and then done.
 *
 * It watches after each sync, and at the start, in case an earlier process was stopped in between.
 */
export function createSyncScheduler(
  parts: SchedulerParts & {
    readonly ledger: Ledger;
    /** It must end soon after the signal aborts. */
    readonly sync: (signal: AbortSignal) => Promise<unknown>;
    /** Compares what moved with the current and upcoming stays. It must end soon after the signal aborts. */
    readonly watch: (signal: AbortSignal) => Promise<unknown>;
  },
): Scheduler {
  const { ledger, cronTimes, sync, watch, clock, notify } = parts;
  let isWatched = false;

  async function isDue(): Promise<boolean> {
    const cronTime = cronTimes.last(new Date(clock()));
    if (!cronTime) return false;
    const latest = await ledger.mappings.latestSync();
    return latest?.endedAt === undefined || latest.endedAt < cronTime.getTime();
  }

  /** False if the copy is not up to date. */
  async function syncWhenDue(stop: AbortSignal): Promise<boolean> {
    try {
      if (!(await isDue())) return true;
      isWatched = false;
      await sync(stop);
      return true;
    } catch (error) {
      // Another process is doing what was due here.
      if (!stop.aborted && !(error instanceof SyncBusyError)) notify({ type: 'sync-failed', error });
      return false;
    }
  }

  return createScheduler(parts, async (stop) => {
    if (!(await syncWhenDue(stop)) || isWatched || stop.aborted) return;
    try {
      await watch(stop);
      isWatched = true;
    } catch (error) {
      if (!stop.aborted) notify({ type: 'watch-failed', error });
    }
  });
}

/** How long before the nightly run a run of today stops. */
const stopBeforeMs = 60_000;

/**
 * Reviews the current day again and again, one run at a time. The cron time's own day is reviewed, and only while it lasts;
 * afterwards it is left to the nightly run. Which process reviews it, and whether a cron time has been taken care of, is
 * decided from the ledger, so that any number of processes may do this.
 */
export function createTodayScheduler(
  parts: SchedulerParts & {
    /** The cron times of the nightly run. */
    readonly nights: CronTimes;
    /** Whether a run of today stops before the nightly run of its day; false if the two don't get in each other's way. */
    readonly stopsBeforeNight: boolean;
    /**
     * Reviews a day. It must end soon after the signal aborts.
     *
     * @param cronTimeAt there is nothing to do for a day that has been reviewed since then
     */
    readonly review: (day: BusinessDay, cronTimeAt: number, signal: AbortSignal) => Promise<unknown>;
  },
): Scheduler {
  const { cronTimes, nights, stopsBeforeNight, review, clock, notify } = parts;

  return createScheduler(parts, async (stop) => {
    const now = new Date(clock());
    const cronTime = cronTimes.last(now);
    const today = businessDayAt(now, cronTimes.zone);
    if (!cronTime || businessDayAt(cronTime, cronTimes.zone).iso !== today.iso) return;
    // The nightly run takes over an unfinished run; one that is still sending would keep it waiting.
    const night = stopsBeforeNight ? nights.next(today.lastInstant) : undefined;
    const beforeNight = new AbortController();
    const untilNight =
      night &&
      setInterval(() => {
        if (clock() >= night.getTime() - stopBeforeMs) beforeNight.abort();
      }, stopBeforeMs / 4);
    try {
      await review(today, cronTime.getTime(), AbortSignal.any([stop, beforeNight.signal]));
    } catch (error) {
      if (stop.aborted) return;
      notify(
        error instanceof DayBusyError
          ? { type: 'today-busy', day: today.iso }
          : { type: 'today-failed', day: today.iso, error },
      );
    } finally {
      clearInterval(untilNight);
    }
  });
}

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

/** How often the ledger is asked which looks are due. */
const lookMs = 60_000;

/**
 * Looks for results that came after their time, or after one that did not suffice, whatever their day. A look changes nothing and holds
 * nothing; only where there is something new, the run is tried again. When each run was looked at is known to this process alone: one that
 * starts looks at once.
 */
export function createLateResultScheduler(
  parts: Omit<SchedulerParts, 'checkMs'> & {
    readonly ledger: Ledger;
    /** For how many days after the by-file call a result is looked for. */
    readonly guestNameDays: number;
    /** Looks for a result that was not judged yet, without changing anything. */
    readonly hasNewResult: (run: Run, signal: AbortSignal) => Promise<boolean>;
    /** Tries the run again because there is one. It must end soon after the signal aborts. */
    readonly review: (run: Run, signal: AbortSignal) => Promise<unknown>;
  },
): Scheduler {
  const { ledger, cronTimes, guestNameDays, hasNewResult, review, clock, notify } = parts;
  const lookedAt = new Map<string, number>();
  const reviewing = new Map<string, Promise<void>>();

  async function check(stop: AbortSignal): Promise<void> {
    const runs = await listLookedFor();
    const ids = new Set(runs.map(({ id }) => id));
    for (const id of lookedAt.keys()) if (!ids.has(id)) lookedAt.delete(id);
    for (const run of runs) {
      if (stop.aborted) return;
      const isDue = isLateLookDue(run, lookedAt.get(run.id), clock());
      if (isDue && !reviewing.has(run.id) && (await look(run, stop))) begin(run, stop);
    }
  }

  /** Whoever performs its steps looks for the result of a run that still has time. */
  async function listLookedFor(): Promise<readonly Run[]> {
    try {
      const now = clock();
      const runs = await ledger.runs.listWithoutResult();
      return runs.filter((run) => !hasWork(run) && isResultLookedFor(run, { now, guestNameDays }));
    } catch (error) {
      notify({ type: 'check-failed', error });
      return [];
    }
  }

  async function look(run: Run, stop: AbortSignal): Promise<boolean> {
    lookedAt.set(run.id, clock());
    try {
      return (await hasNewResult(run, stop)) && !stop.aborted;
    } catch (error) {
      if (!stop.aborted) notify({ type: 'look-failed', run, error });
      return false;
    }
  }

  /** Another result may have to become whole first: that delays no other look. */
  function begin(run: Run, stop: AbortSignal): void {
    const day = createBusinessDay(run.day, cronTimes.zone);
    const dueDay: DueDay = { day, kind: 'result', isNightly: false };
    const reviewed = reviewDueDay(dueDay, () => review(run, stop), notify);
    reviewing.set(
      run.id,
      reviewed.finally(() => reviewing.delete(run.id)),
    );
  }

  const checks = createScheduler({ ...parts, checkMs: lookMs }, check);
  return {
    start: checks.start,
    async close() {
      await checks.close();
      await Promise.all(reviewing.values());
    },
  };
}

import { type Hold, pause } from '../base/abort.js';
import { UsageError } from '../base/safe-error.js';
import { type BusinessDay, createBusinessDay, isDayOver } from '../booking/business-day.js';
import { FencedError } from '../ledger/errors.js';
import { goesOn, isStillWanted, type WantedDay } from '../ledger/wanted-days.js';
import { busy, DayBusyError, findSharedRun, tryToAcquireDay } from '../review/day/join-run.js';
import { type DayRequest, findOpening } from '../review/day/open-run.js';
import { type RangeMode, requestOf } from '../review/day/range-plan.js';
import type { Notify } from '../review/events.js';
import { type DayResult, type ReviewParts, reviewDay } from '../review/review-day.js';
import {
  type DeliveryKind,
  hasUnexpectedCount,
  isActive,
  mayCompleteDay,
  type Run,
  type Trigger,
} from '../rules/run.js';
import type { CronTimes } from './cron-times.js';
import type { NotifyScheduler } from './events.js';
import { createScheduler } from './scheduler.js';

/** How often the list is read, besides whenever a day is wanted or has ended here: another process may have left days in it. */
const checkMs = 60_000;

export type ReviewRequest = DayRequest & { readonly trigger: Trigger };

/** What may be asked of a day in the background. */
export interface DayWish extends Pick<DayRequest, 'reason' | 'accepts' | 'expected' | 'seenRunId'> {
  readonly mode: WantedDay['mode'];
  readonly trigger: Trigger;
}

/** A day that is wanted or done: its run is absent until somebody has opened it. */
export interface StartedDay {
  readonly runId: string;
  readonly run?: Run | undefined;
}

/** A day, and its latest run as the caller has seen it; null for none. */
export interface DayToReplay {
  readonly day: BusinessDay;
  readonly seenRunId: string | null;
}

export interface ReplayRequest {
  readonly mode: RangeMode;
  readonly reason: string;
}

/** The reviews of a long-running process. */
export type WantedDays = ReturnType<typeof createWantedDays>;

/**
 * Days are wanted in the ledger, and one loop works on them: what a process has not got to when it ends is found by the next one. A run
 * whose day somebody holds is left to them, and looked at again.
 */
export function createWantedDays(given: {
  readonly cronTimes: CronTimes;
  readonly parts: ReviewParts;
  readonly configuredDelivery: DeliveryKind;
  /** The largest number of days that are replayed at once, over all processes on the ledger. */
  readonly permits: number;
  readonly notify: Notify & NotifyScheduler;
  /** Called when the ledger holds a new run, which doesn't wait for it. */
  readonly onNewRun?: (run: Run) => Promise<void>;
  /** Called after each review that ended, unless its mode was `today`. */
  readonly afterReview: (run: Run) => Promise<void>;
  /** Stops all reviews. */
  readonly signal: AbortSignal;
}) {
  const { parts, configuredDelivery, permits, cronTimes, notify, onNewRun, afterReview, signal } = given;
  const { ledger, clock, workforce } = parts;
  const following = new Set<Promise<void>>();
  const inProgress = new Set<{ day: string; release: AbortController; ended: Promise<unknown> }>();
  const working = new Map<string, Promise<void>>();
  /** Each further replay would fail in the same way, until somebody asks for one again. */
  let replaysFail = false;
  const checks = createScheduler({ cronTimes, checkMs, clock, notify, signal }, check);

  /** Works on what is wanted, as far as nobody else does. */
  async function check(stop: AbortSignal): Promise<void> {
    try {
      for (const wanted of await ledger.wanted.list()) {
        const isOurs = working.has(wanted.day) || [...inProgress].some(({ day }) => day === wanted.day);
        if (stop.aborted) return;
        if (!isOurs && !(wanted.trigger === 'replay' && replaysFail)) await begin(wanted);
      }
    } catch (error) {
      notify({ type: 'check-failed', error });
    }
  }

  async function begin(wanted: WantedDay): Promise<void> {
    const { day, trigger } = wanted;
    const permit = trigger === 'replay' ? await ledger.holds.permit(permits) : undefined;
    if (trigger === 'replay' && !permit) return;
    const hold = await ledger.holds.day(day);
    await hold?.release();
    if (hold) working.set(day, workOn(wanted, permit));
    else await permit?.release();
  }

  async function workOn(wanted: WantedDay, permit: Hold | undefined): Promise<void> {
    const { day, trigger } = wanted;
    try {
      await tryToEnd(wanted).finally(() => permit?.release());
    } catch (error) {
      const isBusy = error instanceof DayBusyError;
      // Somebody has cancelled its run, or taken it over.
      const isOver = error instanceof FencedError;
      if (!isBusy && !signal.aborted) notify({ type: 'review-broke-off', day, error });
      replaysFail ||= !isBusy && !isOver && trigger === 'replay';
      // The day stays in the list. For a while, nothing would be different.
      if (!isOver) await pause(checkMs, signal);
    }
    working.delete(day);
    checks.ask();
  }

  async function tryToEnd(wanted: WantedDay): Promise<void> {
    const { day, runId, trigger } = wanted;
    const request = decideRequest(wanted, await ledger.runs.find(runId));
    let run: Run | undefined;
    try {
      run = request && (await perform(createBusinessDay(day, cronTimes.zone), request, signal)).run;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      notify({ type: 'review-broke-off', day, error });
    }
    // It was stopped, or let go of to be looked at anew.
    if (run && goesOn(run)) return;
    replaysFail ||= trigger === 'replay' && run?.failure?.class === 'fatal';
    await ledger.wanted.remove(runId);
  }

  function perform(day: BusinessDay, request: ReviewRequest, stop: AbortSignal): Promise<DayResult> {
    const release = new AbortController();
    const stopped = AbortSignal.any([signal, stop, release.signal]);
    const ended = reviewDay({ ...request, day, configuredDelivery }, parts, stopped, {
      onOpened(run, isNew) {
        if (!isNew || !onNewRun) return;
        const forget = () => void following.delete(followed);
        const followed: Promise<void> = onNewRun(run).then(forget, forget);
        following.add(followed);
      },
      async followUp({ run }) {
        // There are many runs of today, and what follows a review is for whole days.
        if (!stopped.aborted && request.mode !== 'today') await afterReview(run);
      },
    }).finally(() => {
      inProgress.delete(review);
      checks.ask();
    });
    const review = { day: day.iso, release, ended };
    inProgress.add(review);
    return ended;
  }

  /** Writes what is wanted of the day into the ledger; its run, if there is nothing to do. */
  async function write(day: BusinessDay, wish: DayWish) {
    await parts.mayReview(configuredDelivery);
    for (;;) {
      const { latest, opening } = await findOpening({ ...wish, day, configuredDelivery }, parts);
      if (opening.kind === 'already-done') return { done: opening.run };
      const run = opening.kind === 'new' ? undefined : opening.run;
      const { mode, trigger, reason, accepts, expected } = wish;
      const added = await ledger.wanted.want({
        ...{ mode, trigger, reason, accepts, expected },
        day: day.iso,
        runId: run?.id ?? parts.createRunId(day),
        latestRun: latest?.id,
        endedToken: run && !goesOn(run) ? run.token : undefined,
        wantedAt: clock(),
      });
      // Otherwise somebody has opened a run of the day meanwhile.
      if (added) return added;
    }
  }

  /** A run that is in progress or done is compared with the number too; a failed one gets it when it is resumed. */
  async function noteExpected(day: BusinessDay, { expected }: DayWish): Promise<Run | undefined> {
    const run = await ledger.runs.latest(day.iso);
    const isCompared = run && mayCompleteDay(run) && (isActive(run) || run.state === 'succeeded');
    if (!isCompared || expected === undefined || run.expected === expected) return run;
    return ledger.runs.noteExpected(run.id, expected);
  }

  /** A day that has not ended yet is topped up after its end, not by every call; on a shared run all processes work anyway. */
  async function isLeftAsItIs(day: BusinessDay, wish: DayWish, latest: Run): Promise<boolean> {
    const isReviewed = latest.state === 'succeeded' && mayCompleteDay(latest);
    if (isReviewed && !isDayOver(day, clock()) && !hasUnexpectedCount(latest)) return true;
    return workforce.letsOthersJoin && (await findSharedRun({ ...wish, day }, ledger)) !== undefined;
  }

  async function replay({ day, seenRunId }: DayToReplay, { mode, reason }: ReplayRequest) {
    const asked = requestOf(mode, { reason }).mode as WantedDay['mode'];
    const wish = { mode: asked, reason, trigger: 'replay', seenRunId } as const;
    const found = await tryToAcquireDay({ ...wish, day }, parts);
    if (!found) throw busy({ ...wish, day });
    if (found.kind === 'held') await found.hold.release();
    return write(day, wish);
  }

  /** Ends the reviews of a day in this process; their runs stay active. */
  async function release(day: BusinessDay): Promise<void> {
    const ofDay = [...inProgress].filter((review) => review.day === day.iso);
    for (const review of ofDay) review.release.abort();
    await Promise.allSettled(ofDay.map(({ ended }) => ended));
  }

  /** Nobody holds the day of a shared run: taking it over ends its waits, for all processes. */
  async function endWaits(run: Run): Promise<void> {
    if (await ledger.steps.isBeingPerformed(run.id)) return;
    const hold = await ledger.holds.day(run.day);
    if (!hold) throw new DayBusyError(`${run.day} is being run by another process`);
    try {
      await ledger.runs.takeOver(run.id);
    } finally {
      await hold.release();
    }
  }

  return {
    /**
     * Wants the day's run, and returns it: the one in progress or done, or the one that will be opened.
     *
     * @throws UsageError, and what `mayReview` throws
     */
    async want(day: BusinessDay, wish: DayWish): Promise<StartedDay> {
      const latest = await noteExpected(day, wish);
      if (latest && (await isLeftAsItIs(day, wish, latest))) return { runId: latest.id, run: latest };
      const found = await write(day, wish);
      if ('done' in found) return { runId: found.done.id, run: found.done };
      checks.ask();
      // Another process may have opened the run just now, without the number.
      await noteExpected(day, wish);
      const { runId } = found.wanted;
      return { runId, run: await ledger.runs.find(runId) };
    },
    /**
     * Looks at once for the result that the day's run awaits, instead of when it is time.
     *
     * @throws UsageError if it awaits none
     */
    async look(day: BusinessDay): Promise<StartedDay> {
      const run = await ledger.runs.latest(day.iso);
      if (run?.state !== 'awaiting-result') throw new UsageError(`${day.iso} awaits no result`);
      if (workforce.letsOthersJoin) await endWaits(run);
      else await release(day);
      await write(day, { mode: 'run', trigger: 'manual' });
      checks.ask();
      return { runId: run.id, run };
    },
    /** Wants days anew, in that order. @returns what is wanted, and the days that were refused or are done */
    async replay(days: readonly DayToReplay[], request: ReplayRequest) {
      const wanted: WantedDay[] = [];
      const left: { day: string; why: string }[] = [];
      replaysFail = false;
      for (const one of days) {
        const day = one.day.iso;
        try {
          const found = await replay(one, request);
          if ('done' in found) left.push({ day, why: `run ${found.done.id} is ${found.done.state}` });
          else if (found.isNew) wanted.push(found.wanted);
          else left.push({ day, why: `run ${found.wanted.runId} of ${day} is wanted already` });
        } catch (error) {
          if (!(error instanceof DayBusyError || error instanceof UsageError)) throw error;
          left.push({ day, why: error.message });
        }
      }
      checks.ask();
      return { wanted, left };
    },
    /** Reviews a day to its end, for a schedule. @throws what `reviewDay` throws */
    review: perform,
    /** Begins to work on what is wanted, also by earlier processes. */
    start: checks.start,
    /** Waits for the reviews in progress. Call it after aborting the signal. */
    async close(): Promise<void> {
      await checks.close();
      await Promise.allSettled([
        ...working.values(),
        ...[...inProgress].map(({ ended }) => ended),
        ...following,
      ]);
    },
  };
}

/**
 * What is left to do for a wanted day: its run is opened, or resumed if somebody has opened it; undefined once that has ended.
 *
 * @param run the run that was promised; undefined if nobody has opened it
 */
export function decideRequest(wanted: WantedDay, run: Run | undefined): ReviewRequest | undefined {
  if (!isStillWanted(wanted, run)) return undefined;
  const { mode, trigger, reason, accepts, expected, latestRun = null, runId } = wanted;
  const request = { mode, trigger, reason, accepts, expected } as const;
  if (run && goesOn(run)) return { ...request, mode: 'resume', runId };
  return trigger === 'replay' ? { ...request, seenRunId: latestRun } : request;
}

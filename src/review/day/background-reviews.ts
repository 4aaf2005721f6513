import { pause } from '../../base/abort.js';
import { UsageError } from '../../base/usage-error.js';
import { type BusinessDay, isDayOver } from '../../booking/business-day.js';
import {
  type DeliveryKind,
  hasUnexpectedCount,
  isActive,
  mayCompleteDay,
  type Run,
  type Trigger,
} from '../../rules/run.js';
import { type DayResult, type ReviewCallbacks, type ReviewParts, reviewDay } from '../review-day.js';
import { busy, DayBusyError, findSharedRun, tryToAcquireDay } from './join-run.js';
import { type DayRequest, type OpenedRun, openRun } from './open-run.js';

/** Delay between two tries to get a day that another process is opening or releasing. */
const tryEveryMs = 50;
/** How long another process may hold a day without opening a run of it. */
const patienceMs = 10_000;

export type ReviewRequest = DayRequest & { readonly trigger: Trigger };

export interface StartedReview {
  readonly run: Run;
  /** Whether this call created the run. */
  readonly isNew: boolean;
}

/** The reviews of a long-running process. */
export type BackgroundReviews = ReturnType<typeof createBackgroundReviews>;

export function createBackgroundReviews({
  parts,
  configuredDelivery,
  onNewRun,
  afterReview,
  signal,
}: {
  readonly parts: ReviewParts;
  readonly configuredDelivery: DeliveryKind;
  /** Called when the ledger holds a new run, which doesn't wait for it. */
  readonly onNewRun?: (run: Run) => Promise<void>;
  /** Called after each review that ended, unless its mode was `today`. */
  readonly afterReview: (run: Run) => Promise<void>;
  /** Stops all reviews. */
  readonly signal: AbortSignal;
}) {
  const { ledger, clock, workforce, notify } = parts;
  const current = new Set<Promise<unknown>>();
  const inProgress = new Map<AbortController, { readonly day: string; readonly ended: Promise<unknown> }>();

  function perform(
    day: BusinessDay,
    request: ReviewRequest,
    signal: AbortSignal,
    callbacks?: ReviewCallbacks,
  ): Promise<DayResult> {
    const release = new AbortController();
    const stop = AbortSignal.any([signal, release.signal]);
    const ended = reviewDay({ ...request, day, configuredDelivery }, parts, stop, {
      ...callbacks,
      onOpened(run, isNew) {
        if (isNew && onNewRun) void track(onNewRun(run));
        callbacks?.onOpened?.(run, isNew);
      },
      async followUp({ run }) {
        // There are many runs of today, and what follows a review is for whole days.
        if (!stop.aborted && request.mode !== 'today') await afterReview(run);
      },
    }).finally(() => inProgress.delete(release));
    inProgress.set(release, { day: day.iso, ended });
    return ended;
  }

  function track<Result>(review: Promise<Result>): Promise<Result> {
    current.add(review);
    const forget = () => current.delete(review);
    review.then(forget, forget);
    return review;
  }

  function startReview(day: BusinessDay, request: ReviewRequest): Promise<StartedReview> {
    return new Promise((resolve, reject) => {
      let isSettled = false;

      function succeed(run: Run, isNew: boolean): void {
        isSettled = true;
        resolve({ run, isNew });
      }

      function fail(error: unknown): void {
        // The caller has got its result: only an event can report this.
        if (isSettled && !(error instanceof DayBusyError))
          notify({ type: 'review-broke-off', day: day.iso, error });
        isSettled = true;
        reject(error);
      }

      /** A day that is held without an active run is just being opened or released: try again. */
      async function performWhenFree(): Promise<DayResult> {
        const giveUpAt = clock() + patienceMs;
        for (;;) {
          try {
            return await perform(day, request, signal, {
              onOpened: succeed,
              // Another process holds the day: its run is the result, as soon as the ledger holds it.
              onWaiting(latest) {
                if (isOfWholeDay(latest)) succeed(latest, false);
              },
            });
          } catch (error) {
            if (!(error instanceof DayBusyError) || isSettled || signal.aborted) throw error;
            const latest = await ledger.runs.latest(day.iso);
            if (isOfWholeDay(latest)) return { run: latest, wasDone: false };
            if (clock() >= giveUpAt) throw error;
            await pause(tryEveryMs, signal);
          }
        }
      }

      track(performWhenFree()).then(({ run }) => succeed(run, false), fail);
    });
  }

  /** A run that is in progress or done is compared with the number too; a failed one gets it when it is resumed. */
  async function noteExpected(run: Run, { expected }: ReviewRequest): Promise<Run> {
    const isCompared = mayCompleteDay(run) && (isActive(run) || run.state === 'succeeded');
    if (!isCompared || expected === undefined || run.expected === expected) return run;
    return ledger.runs.noteExpected(run.id, expected);
  }

  async function findOrStart(day: BusinessDay, request: ReviewRequest): Promise<StartedReview> {
    const known = await ledger.runs.latest(day.iso);
    const latest = known && (await noteExpected(known, request));
    // A day that has not ended yet is topped up after its end, not by every call.
    const isReviewed = latest?.state === 'succeeded' && mayCompleteDay(latest);
    if (isReviewed && !isDayOver(day, clock()) && !hasUnexpectedCount(latest))
      return { run: latest, isNew: false };
    // All processes work on a shared run, this one included, so it needs no further watching for each call.
    const shared = workforce.letsOthersJoin && (await findSharedRun({ ...request, day }, ledger));
    if (shared && request.mode === 'run') return { run: shared, isNew: false };
    return startReview(day, request);
  }

  /** Ends the reviews of a day in this process; their runs stay active. */
  async function release(day: BusinessDay): Promise<void> {
    const ofDay = [...inProgress].filter(([, review]) => review.day === day.iso);
    for (const [controller] of ofDay) controller.abort();
    await Promise.allSettled(ofDay.map(([, { ended }]) => ended));
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
     * Opens or takes over the day's run and leaves it in the ledger: a review with the mode `resume` works on it later, in this
     * process or another.
     *
     * @throws UsageError; DayBusyError at once if another process has the day
     */
    async open(day: BusinessDay, request: ReviewRequest): Promise<OpenedRun> {
      const asked = { ...request, day, configuredDelivery };
      await parts.mayReview(request.delivery ?? configuredDelivery);
      const found = await tryToAcquireDay(asked, parts);
      if (!found) throw busy(asked);
      if (found.kind === 'to-join') return { kind: 'resumed', run: found.run };
      try {
        const opened = await openRun(asked, parts, found.hold);
        if (opened === 'lost') throw busy(asked);
        if (opened.kind === 'new' && onNewRun) void track(onNewRun(opened.run));
        return opened;
      } finally {
        await found.hold.release();
      }
    },
    /**
     * Looks at once for the result that the day's run awaits, instead of when it is time.
     *
     * @throws UsageError if it awaits none
     */
    async look(day: BusinessDay): Promise<StartedReview> {
      const run = await ledger.runs.latest(day.iso);
      if (run?.state !== 'awaiting-result') throw new UsageError(`${day.iso} awaits no result`);
      if (workforce.letsOthersJoin) await endWaits(run);
      else await release(day);
      return startReview(day, { mode: 'resume', trigger: run.trigger, runId: run.id });
    },
    /** Reviews a day to its end. @throws what `reviewDay` throws */
    review: (day: BusinessDay, request: ReviewRequest, stop: AbortSignal): Promise<DayResult> =>
      track(perform(day, request, AbortSignal.any([signal, stop]))),
    /**
     * Starts a review and resolves once the ledger holds the day's run, whichever process works on it. The review continues
     * in the background.
     *
     * @throws what `reviewDay` throws; DayBusyError only when another process holds the day for long without an active run
     */
    async start(day: BusinessDay, request: ReviewRequest): Promise<StartedReview> {
      const started = await findOrStart(day, request);
      // Another process may have opened the run just now, without the number.
      return { ...started, run: await noteExpected(started.run, request) };
    },
    /** Waits for the reviews in progress. Call it after aborting the signal. */
    async idle(): Promise<void> {
      await Promise.allSettled(current);
    },
  };
}

/** Whether it is in progress and will complete its day. */
function isOfWholeDay(run: Run | undefined): run is Run {
  return run !== undefined && isActive(run) && mayCompleteDay(run);
}

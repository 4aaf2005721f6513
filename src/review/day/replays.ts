import { pause } from '../../base/abort.js';
import type { Hold } from '../../base/hold.js';
import { UsageError } from '../../base/usage-error.js';
import { type BusinessDay, createBusinessDay } from '../../booking/business-day.js';
import type { Ledger } from '../../ledger/ledger.js';
import { hasWork, isActive, type Run } from '../../rules/run.js';
import type { Notify } from '../events.js';
import type { BackgroundReviews } from './background-reviews.js';
import { DayBusyError } from './join-run.js';
import { type RangeMode, requestOf } from './range-plan.js';

/** Delay between attempts to acquire a day that somebody else holds for a moment. */
const tryEveryMs = 500;

/** A day, and its latest run as the caller has seen it; null for none. */
export interface DayToReplay {
  readonly day: BusinessDay;
  readonly seenRunId: string | null;
}

export interface ReplayRequest {
  readonly mode: RangeMode;
  readonly reason: string;
}

/** The replays of a long-running process. */
export type Replays = ReturnType<typeof createReplays>;

export function createReplays({
  reviews,
  ledger,
  places,
  timezone,
  notify,
  signal,
}: {
  readonly reviews: Pick<BackgroundReviews, 'open' | 'review'>;
  readonly ledger: Ledger;
  /** The largest number of days that are replayed at once, over all processes on the ledger. */
  readonly places: number;
  readonly timezone: string;
  readonly notify: Notify;
  /** Stops everything. */
  readonly signal: AbortSignal;
}) {
  const current = new Set<Promise<void>>();
  const waiting = new Map<string, Run>();

  /** A day that fails does not end the others, unless each of them would fail in the same way. */
  async function workOn(runs: readonly Run[]): Promise<void> {
    let isOver = false;
    const mayBegin = () => !signal.aborted && !isOver;
    await runDaysConcurrently(runs, {
      atOnce: Math.min(places, runs.length),
      mayBegin,
      async begin(run) {
        const place = await waitForRunPermit(ledger, places, { signal, onWait: () => {} });
        if (!place || !mayBegin()) {
          await place?.release();
          return undefined;
        }
        waiting.delete(run.id);
        const ended = review(createBusinessDay(run.day, timezone), run)
          .then((mayOthersSucceed) => {
            isOver ||= !mayOthersSucceed;
          })
          .finally(() => place.release());
        return { ended };
      },
    });
  }

  /** False if no other day could be reviewed either. */
  async function review(day: BusinessDay, run: Run): Promise<boolean> {
    const request = { mode: 'resume', trigger: 'replay', runId: run.id } as const;
    for (;;) {
      try {
        const { failure } = (await reviews.review(day, request, signal)).run;
        return failure?.class !== 'fatal';
      } catch (error) {
        if (!(error instanceof DayBusyError)) {
          notify({ type: 'review-broke-off', day: day.iso, error });
          return error instanceof UsageError;
        }
        if (!(await isLeftToUs(run))) return true;
        await pause(tryEveryMs, signal);
      }
    }
  }

  /** Somebody holds the day without working on the run: to look at it, or to open another one that was refused. */
  async function isLeftToUs({ id, token }: Run): Promise<boolean> {
    const now = await ledger.runs.get(id);
    return isActive(now) && now.token === token && !signal.aborted;
  }

  function workInBackground(runs: readonly Run[]): void {
    const [first] = runs;
    if (!first) return;
    for (const run of runs) waiting.set(run.id, run);
    const work = workOn(runs)
      .catch((error: unknown) => notify({ type: 'review-broke-off', day: first.day, error }))
      .finally(() => {
        for (const { id } of runs) waiting.delete(id);
        current.delete(work);
      });
    current.add(work);
  }

  return {
    /**
     * Opens the run of each day in the ledger and returns; the runs are then worked on in that order, as many at once as
     * there are places. What a stopping process has not got to stays active in the ledger, for `listLeft` and for the
     * schedule.
     *
     * @returns the runs, and the days that were refused or are done
     */
    async start(days: readonly DayToReplay[], { mode, reason }: ReplayRequest) {
      const runs: Run[] = [];
      const left: { day: string; why: string }[] = [];
      try {
        for (const { day, seenRunId } of days) {
          const request = { ...requestOf(mode, { reason }), trigger: 'replay', seenRunId } as const;
          try {
            const { kind, run } = await reviews.open(day, request);
            if (kind === 'done') left.push({ day: day.iso, why: `run ${run.id} is ${run.state}` });
            else runs.push(run);
          } catch (error) {
            if (!(error instanceof DayBusyError || error instanceof UsageError)) throw error;
            left.push({ day: day.iso, why: error.message });
          }
        }
      } finally {
        workInBackground(runs);
      }
      return { runs, left };
    },
    /**
     * The replays that an earlier process has left, whatever their day. Called before this one starts any, which would be
     * listed too.
     */
    async listLeft(): Promise<readonly Run[]> {
      const active = await ledger.runs.listActive();
      return active.filter(
        (run) => run.trigger === 'replay' && (run.collectedAt === undefined || hasWork(run)),
      );
    },
    /** Continues these runs in the background. */
    resume: workInBackground,
    /** The runs that wait for their turn in this process. */
    listWaiting: () => [...waiting.values()],
    /** Waits for the replays in progress. Call it after aborting the signal. */
    async idle(): Promise<void> {
      await Promise.allSettled(current);
    },
  };
}

/** Days of replayed ranges that are reviewed at once, over all processes: the nightly run must still find room. */
export const runsAtOnce = 2;
/** Delay between attempts to get a permit. */
const permitEveryMs = 1_000;

/**
 * Waits for one of a limited number of permits for runs that all processes on a ledger share.
 *
 * @param onWait called once if all permits are taken
 * @returns undefined when aborted
 */
export async function waitForRunPermit(
  ledger: Ledger,
  places: number,
  { signal, onWait }: { readonly signal: AbortSignal; readonly onWait: () => void },
): Promise<Hold | undefined> {
  for (let isReported = false; !signal.aborted; isReported = true) {
    const hold = await ledger.holds.place(places);
    if (hold) return hold;
    if (!isReported) onWait();
    await pause(permitEveryMs, signal);
  }
  return undefined;
}

/**
 * Runs days concurrently, at most `atOnce` at a time, starting them in order.
 *
 * @returns the days that were not started
 * @throws the first error of a day, after all others have ended
 */
export async function runDaysConcurrently<Day>(
  days: readonly Day[],
  {
    atOnce,
    mayBegin,
    begin,
  }: {
    readonly atOnce: number;
    /** Called right before a day is started. False also skips all later days. */
    readonly mayBegin: () => boolean;
    /** Waits for what a day needs, then starts it; undefined if the day is not to be started. */
    readonly begin: (day: Day) => Promise<{ readonly ended: Promise<void> } | undefined>;
  },
): Promise<readonly Day[]> {
  const working = new Set<Promise<void>>();
  let fault: { error: unknown } | undefined;
  let begun = 0;
  try {
    for (const day of days) {
      if (working.size >= atOnce) await Promise.race(working);
      const work = fault || !mayBegin() ? undefined : await begin(day);
      if (!work) break;
      begun += 1;
      const ended: Promise<void> = work.ended
        .catch((error: unknown) => {
          fault ??= { error };
        })
        .then(() => {
          working.delete(ended);
        });
      working.add(ended);
    }
  } finally {
    await Promise.all(working);
  }
  if (fault) throw fault.error;
  return days.slice(begun);
}

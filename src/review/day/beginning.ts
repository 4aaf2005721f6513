import { pause } from '../../async/pause.js';
import type { Notify, ReviewEvent } from '../events.js';
import type { Ledger } from '../ledger.js';
import { DayBusyError } from '../refusals.js';
import { isActive, type Run } from '../run.js';
import type { DayResult } from './run-day.js';

/** Between two looks whether the ledger holds the run of a day that another process has. */
const lookEveryMs = 50;
/** How long a day may be held by others who open no run of it. */
const patienceMs = 10_000;

export interface BegunRun {
  readonly run: Run;
  readonly isNew: boolean;
}

export interface BeginningParts {
  readonly ledger: Pick<Ledger, 'latestRun'>;
  readonly clock: () => number;
  readonly perform: (notify: Notify) => Promise<DayResult>;
  /** Is handed the review, which goes on behind the answer. */
  readonly keep: (review: Promise<unknown>) => void;
  readonly notify: Notify;
  /** Told of what went wrong once it was answered. */
  readonly onFault: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** Has a day reviewed, and answers as soon as the ledger holds its run, whoever works on it. */
export function beginReview(day: string, parts: BeginningParts): Promise<BegunRun> {
  const { ledger, clock, perform, keep, notify: tell, onFault, signal } = parts;
  return new Promise((resolve, reject) => {
    let isOver = false;

    function answer(run: Run, isNew: boolean): void {
      isOver = true;
      resolve({ run, isNew });
    }

    function fail(error: unknown): void {
      if (isOver && !(error instanceof DayBusyError)) onFault(error);
      isOver = true;
      reject(error);
    }

    /** Another process has the day: its run is the answer, as soon as the ledger holds it. */
    async function answerOthers(): Promise<void> {
      while (!isOver && !signal.aborted) {
        const latest = await ledger.latestRun(day);
        if (latest && isActive(latest)) answer(latest, false);
        else await pause(lookEveryMs, signal);
      }
    }

    function notify(event: ReviewEvent): void {
      tell(event);
      if (event.type === 'run-opened') answer(event.run, !event.isResumed);
      if (event.type === 'waiting-for-day') answerOthers().catch(fail);
    }

    /** A day that is held without an active run is just being opened, or let go: it is asked for again. */
    async function performWhenFree(): Promise<DayResult> {
      const giveUpAt = clock() + patienceMs;
      for (;;) {
        try {
          return await perform(notify);
        } catch (error) {
          if (!(error instanceof DayBusyError) || isOver || signal.aborted) throw error;
          const latest = await ledger.latestRun(day);
          if (latest && isActive(latest)) return { run: latest, wasDone: false };
          if (clock() >= giveUpAt) throw error;
          await pause(lookEveryMs, signal);
        }
      }
    }

    const review = performWhenFree();
    keep(review);
    review.then(({ run }) => answer(run, false), fail);
  });
}

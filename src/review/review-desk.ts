import type { BusinessDay } from '../booking/business-day.js';
import type { ReviewEvent } from './events.js';
import { findShared } from './joining.js';
import type { DayRequest } from './opening.js';
import { pause } from './pause.js';
import { DayBusyError } from './refusals.js';
import { type DeliveryKind, isActive, type Run, type Trigger } from './run.js';
import { type DayResult, type RunDayParts, runDay } from './run-day.js';

/** Between two looks whether the ledger holds the run of a day that another process has. */
const lookEveryMs = 50;
/** How long a day may be held by others who open no run of it. */
const patienceMs = 10_000;

export type DeskRequest = DayRequest & { readonly trigger: Trigger };

export interface ReviewDeskOptions {
  readonly parts: RunDayParts;
  readonly configuredDelivery: DeliveryKind;
  /** Called after each review that came to an end. */
  readonly afterReview: () => Promise<void>;
  /** Told of what went wrong in a review that nobody waits for any more. */
  readonly onFault: (error: unknown, day: BusinessDay) => void;
  /** Stops all reviews. */
  readonly signal: AbortSignal;
}

/** Where a process that stays takes reviews in: to see one through, or only to have it begun. */
export interface ReviewDesk {
  /** @throws what `runDay` throws */
  review(day: BusinessDay, request: DeskRequest, signal: AbortSignal): Promise<DayResult>;
  /**
   * Answers as soon as the ledger holds the run of the day, whoever works on it; the review goes on here.
   *
   * @throws what `runDay` throws; DayBusyError only when the day is held for long and has no active run
   */
  begin(day: BusinessDay, request: DeskRequest): Promise<{ readonly run: Run; readonly isNew: boolean }>;
  /** Waits for what goes on: to be called when the signal was aborted. */
  idle(): Promise<void>;
}

export function createReviewDesk({
  parts,
  configuredDelivery,
  afterReview,
  onFault,
  signal,
}: ReviewDeskOptions): ReviewDesk {
  const current = new Set<Promise<unknown>>();

  async function perform(
    day: BusinessDay,
    request: DeskRequest,
    stop: AbortSignal,
    notify: (event: ReviewEvent) => void,
  ): Promise<DayResult> {
    const result = await runDay({ ...request, day, configuredDelivery }, { ...parts, notify }, stop);
    if (!stop.aborted) await afterReview();
    return result;
  }

  /** Keeps it in mind until it is over. */
  function keep<Result>(review: Promise<Result>): Promise<Result> {
    current.add(review);
    const forget = () => current.delete(review);
    review.then(forget, forget);
    return review;
  }

  return {
    review: (day, request, ended) =>
      keep(perform(day, request, AbortSignal.any([signal, ended]), parts.notify)),
    async begin(day, request) {
      const latest = await parts.ledger.latestRun(day.iso);
      // A day that goes on yet is topped up when it is over, not by every call.
      const isGoingOn = parts.clock() <= day.lastInstant.getTime();
      if (latest?.state === 'succeeded' && isGoingOn) return { run: latest, isNew: false };
      // Everybody works on it, this process too: to watch it once more for each call helps nobody.
      const shared = parts.workforce.isShared && (await findShared({ ...request, day }, parts.ledger));
      if (shared && request.mode === 'run') return { run: shared, isNew: false };
      return new Promise((resolve, reject) => {
        let isOver = false;
        const answer = (run: Run, isNew: boolean) => {
          isOver = true;
          resolve({ run, isNew });
        };
        const fail = (error: unknown) => {
          if (isOver && !(error instanceof DayBusyError)) onFault(error, day);
          isOver = true;
          reject(error);
        };
        /** Another process has the day: its run is the answer, as soon as the ledger holds it. */
        const answerOthers = async () => {
          while (!isOver && !signal.aborted) {
            const latest = await parts.ledger.latestRun(day.iso);
            if (latest && isActive(latest)) answer(latest, false);
            else await pause(lookEveryMs, signal);
          }
        };
        const notify = (event: ReviewEvent) => {
          parts.notify(event);
          if (event.type === 'run-opened') answer(event.run, !event.isResumed);
          if (event.type === 'waiting-for-day') answerOthers().catch(fail);
        };
        const giveUpAt = parts.clock() + patienceMs;
        /** A day that is held without an active run is just being opened, or let go: it is asked for again. */
        const performWhenFree = async (): Promise<DayResult> => {
          for (;;) {
            try {
              return await perform(day, request, signal, notify);
            } catch (error) {
              if (!(error instanceof DayBusyError) || isOver || signal.aborted) throw error;
              const latest = await parts.ledger.latestRun(day.iso);
              if (latest && isActive(latest)) return { run: latest, wasDone: false };
              if (parts.clock() >= giveUpAt) throw error;
              await pause(lookEveryMs, signal);
            }
          }
        };
        keep(performWhenFree()).then(({ run }) => answer(run, false), fail);
      });
    },
    async idle() {
      await Promise.allSettled(current);
    },
  };
}

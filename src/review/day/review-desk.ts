import type { BusinessDay } from '../../booking/business-day.js';
import type { Notify } from '../events.js';
import type { DeliveryKind, Trigger } from '../run.js';
import { type BegunRun, beginReview } from './beginning.js';
import { findShared } from './joining.js';
import type { DayRequest } from './opening.js';
import { type DayResult, type RunDayParts, runDay } from './run-day.js';

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
  begin(day: BusinessDay, request: DeskRequest): Promise<BegunRun>;
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
    notify: Notify,
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
      return beginReview(day.iso, {
        ledger: parts.ledger,
        clock: parts.clock,
        perform: (notify) => perform(day, request, signal, notify),
        keep,
        notify: parts.notify,
        onFault: (error) => onFault(error, day),
        signal,
      });
    },
    async idle() {
      await Promise.allSettled(current);
    },
  };
}

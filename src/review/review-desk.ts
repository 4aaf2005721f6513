import type { BusinessDay } from '../booking/business-day.js';
import type { ReviewEvent } from './events.js';
import type { DayRequest } from './opening.js';
import { DayBusyError } from './refusals.js';
import type { DeliveryKind, Run, Trigger } from './run.js';
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
   * @throws what `runDay` throws, but DayBusyError
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
    begin(day, request) {
      return new Promise((resolve, reject) => {
        let isAnswered = false;
        const answer = (run: Run, isNew: boolean) => {
          isAnswered = true;
          resolve({ run, isNew });
        };
        /** Another process holds the day: its run is the answer. */
        const answerLatest = async (fault: unknown) => {
          const latest = await parts.ledger.latestRun(day.iso);
          if (latest) answer(latest, false);
          else reject(fault);
        };
        const notify = (event: ReviewEvent) => {
          parts.notify(event);
          if (event.type === 'run-opened') answer(event.run, !event.isResumed);
          if (event.type === 'waiting-for-day' && !isAnswered)
            answerLatest(new DayBusyError(`${day.iso} is being worked on`)).catch(reject);
        };
        keep(perform(day, request, signal, notify)).then(
          ({ run }) => answer(run, false),
          (error: unknown) => {
            if (error instanceof DayBusyError) answerLatest(error).catch(reject);
            else if (isAnswered) onFault(error, day);
            else reject(error);
          },
        );
      });
    },
    async idle() {
      await Promise.allSettled(current);
    },
  };
}

import type { Run } from './run.js';
import type { BookingForm, StepState } from './step.js';

/** What is known about a booking's mapping. `unknown` never counts as good. (Design 11.) */
export type BookingVerdict =
  | { readonly verdict: 'correct' | 'incorrect' }
  | { readonly verdict: 'unknown'; readonly reason: UnknownReason };

export type UnknownReason =
  | (typeof unansweredReasons)[number]
  | 'awaiting-result'
  | 'by-email'
  | 'not-delivered';

/** Why a booking of the file has no verdict although its result is known. */
export const unansweredReasons = ['not-in-result', 'unclear'] as const;

/** What the result says about a booking of the file, unless it calls the mapping correct. */
export type Judged = 'incorrect' | (typeof unansweredReasons)[number];

/** Bookings of one batch of the file about which the result says the same. */
export interface JudgedPlaces {
  readonly batch: number;
  readonly judged: Judged;
  /** Counted from 0, ascending. */
  readonly places: readonly number[];
}

/** What decides about the verdict of a stored booking. */
export interface JudgedBooking {
  readonly run: Pick<Run, 'file'>;
  readonly form: BookingForm;
  /** The step that delivers it; absent while there is no plan. */
  readonly step?: { readonly state: StepState } | undefined;
  readonly judged?: Judged | undefined;
}

/** The verdict on a booking. */
export function judgeBooking({ run, form, step, judged }: JudgedBooking): BookingVerdict {
  if (step?.state !== 'done') return { verdict: 'unknown', reason: 'not-delivered' };
  if (form === 'body') return { verdict: 'unknown', reason: 'by-email' };
  const verdicts = run.file?.verdicts;
  if (!verdicts) return { verdict: 'unknown', reason: 'awaiting-result' };
  if (judged === 'incorrect') return { verdict: 'incorrect' };
  if (judged !== undefined) return { verdict: 'unknown', reason: judged };
  // Older versions counted the bookings without a verdict, but did not record which they are.
  const isListed = verdicts.listsUnanswered === true || verdicts.unanswered + verdicts.unclear === 0;
  return isListed ? { verdict: 'correct' } : { verdict: 'unknown', reason: 'not-in-result' };
}

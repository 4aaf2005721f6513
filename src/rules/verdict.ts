import type { BatchStream } from '../booking/sending.js';
import type { Judged, unansweredReasons } from './review-file.js';
import { mayHaveResult, type Run } from './run.js';
import type { StepState } from './step.js';

/**
 * Whether no more verdicts can come for a run. Those that are there say nothing about that: an incomplete result has some, and a run that
 * failed for it is resumed.
 */
export function hasFinalVerdicts(run: Run): boolean {
  const isOver = run.state === 'succeeded' || run.state === 'cancelled';
  return isOver || !mayHaveResult(run) || run.file?.archivedTo !== undefined;
}

/** What is known about a booking's mapping. `unknown` never counts as good. */
export type BookingVerdict =
  | { readonly verdict: 'incorrect' }
  | { readonly verdict: 'correct' }
  | { readonly verdict: 'unknown'; readonly reason: UnknownReason };

export type UnknownReason =
  | (typeof unansweredReasons)[number]
  | 'awaiting-result'
  | 'by-email'
  | 'not-delivered';

/** What decides about the verdict of a stored booking. */
export interface JudgedBooking {
  readonly run: Run;
  readonly stream: BatchStream;
  /** The step that delivers it; absent while there is no plan. */
  readonly step?: { readonly state: StepState } | undefined;
  readonly judged?: Judged | undefined;
  /** When the first e-mail that names it was received. */
  readonly namedByEmailAt?: number | undefined;
  /** When the first e-mail that names its mapping, without its reference, was received. */
  readonly mappingNamedByEmailAt?: number | undefined;
}

/**
 * The verdict on a booking. A booking that an e-mail names, directly or by its mapping, is incorrect, whatever else is
 * known: no e-mail clears a booking, and neither does the absence of e-mails.
 */
export function judgeBooking(booking: JudgedBooking): BookingVerdict {
  const { run, stream, step, judged } = booking;
  if ((booking.namedByEmailAt ?? booking.mappingNamedByEmailAt) !== undefined)
    return { verdict: 'incorrect' };
  if (step?.state !== 'done') return { verdict: 'unknown', reason: 'not-delivered' };
  if (stream === 'posted') return { verdict: 'unknown', reason: 'by-email' };
  const verdicts = run.file?.verdicts;
  if (!verdicts) return { verdict: 'unknown', reason: 'awaiting-result' };
  if (judged === 'incorrect') return { verdict: 'incorrect' };
  if (judged !== undefined) return { verdict: 'unknown', reason: judged };
  // A result that was set aside leaves the number of bookings without a verdict, and no list of them.
  const isListed = verdicts.listsUnanswered === true || verdicts.unanswered + verdicts.unclear === 0;
  return isListed ? { verdict: 'correct' } : { verdict: 'unknown', reason: 'not-in-result' };
}

import type { KeptValues } from '../booking/kept-values.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { StepState } from '../ledger/step.js';
import type { Attempt, Trace } from '../ledger/tracing.js';
import { createHotelComparer } from '../mappings/hotels/compare-hotels.js';
import { pairToJson } from '../mappings/hotels/shown-hotels.js';
import { maskAnswers } from '../review/stored/masked-answers.js';
import { readMaskedFields } from '../review/stored/stored-line.js';
import { type Suspicion, toSuspicion } from '../review/suspects/listing.js';
import { type BookingVerdict, judgeBooking, type Silence, type UnknownReason } from '../review/verdict.js';
import { findTracedHotels, type TracedHotels } from '../review/verdicts/booked-hotels.js';
import { findTracedCases, type TracedCase } from './booked-cases.js';

/** The history of one booking in one run. */
export interface BookingHistory {
  readonly runId: string;
  readonly day: string;
  readonly runState: string;
  readonly state: 'delivered' | 'refused' | 'pending' | 'rejected';
  readonly booking?: Record<string, unknown>;
  readonly verdict: BookingVerdict['verdict'];
  /** It went by body in a run by file, because it can't be in the file. */
  readonly posted?: true;
  /** Why there is no verdict. */
  readonly verdictReason?: UnknownReason;
  /** When the first e-mail that names it was received. */
  readonly namedByEmailAt?: string;
  /** When the first e-mail that names its mapping, without its reference, was received. */
  readonly mappingNamedByEmailAt?: string;
  /** The case of its mapping. */
  readonly case?: TracedCase;
  /** Its verdict is correct because no e-mail named it. */
  readonly bySilence?: true;
  /** The booked hotel, and the one that the local copy of the mappings has now, if known. */
  readonly hotels?: TracedHotels;
  /** What the local copy of the mappings said about it before it was sent. */
  readonly suspect?: Suspicion;
  /** Its local columns, which are not sent. */
  readonly kept?: KeptValues;
  readonly step?: string;
  readonly attempts?: readonly ReturnType<typeof toAttempt>[];
  readonly rejected?: { readonly place: number; readonly reason: string };
}

interface HistoryOptions {
  /** Includes the service's own messages, which may name a guest: only on request. */
  readonly withAnswers: boolean;
  readonly hotels?: TracedHotels | undefined;
  readonly case?: TracedCase | undefined;
  /** Undefined where silence means nothing. */
  readonly silence?: Silence | undefined;
}

export function toHistory(trace: Trace, options: HistoryOptions): BookingHistory {
  const { withAnswers, hotels, silence } = options;
  const { run } = trace;
  const common = { runId: run.id, day: run.day, runState: run.state };
  switch (trace.kind) {
    case 'reject':
      return {
        ...common,
        state: 'rejected',
        verdict: 'unknown',
        verdictReason: 'not-delivered',
        rejected: { place: trace.place, reason: trace.reason },
      };
    case 'booking':
      return {
        ...common,
        state: bookingState(trace.step?.state),
        booking: readMaskedFields(trace.line, trace.form),
        ...toVerdict(judgeBooking(trace, silence)),
        ...(trace.namedByEmailAt !== undefined && {
          namedByEmailAt: new Date(trace.namedByEmailAt).toISOString(),
        }),
        ...(trace.mappingNamedByEmailAt !== undefined && {
          mappingNamedByEmailAt: new Date(trace.mappingNamedByEmailAt).toISOString(),
        }),
        ...(options.case && { case: options.case }),
        ...(trace.form === 'body' && run.delivery === 'file' && { posted: true as const }),
        ...(hotels && { hotels }),
        ...(trace.suspect && { suspect: toSuspicion(trace.suspect) }),
        ...(trace.kept && { kept: trace.kept }),
        ...(trace.step && { step: trace.step.name }),
        attempts: trace.attempts.map((attempt) => toAttempt(attempt, withAnswers)),
      };
  }
}

/** A history as `show --json` prints it. */
export function historyToJson({ hotels, ...history }: BookingHistory) {
  return {
    ...history,
    // The master hotel that the copy has now; null if it has none.
    ...(hotels && { copyServiceId: hotels.copyServiceId, copy: hotels.copy, ...pairToJson(hotels) }),
  };
}

function toVerdict(judged: BookingVerdict): Pick<BookingHistory, 'verdict' | 'verdictReason' | 'bySilence'> {
  switch (judged.verdict) {
    case 'incorrect':
      return { verdict: 'incorrect' };
    case 'correct':
      return { verdict: 'correct', ...(judged.bySilence && { bySilence: true }) };
    case 'unknown':
      return { verdict: 'unknown', verdictReason: judged.reason };
  }
}

function bookingState(step: StepState | undefined): BookingHistory['state'] {
  switch (step) {
    case 'done':
      return 'delivered';
    case 'refused':
      return 'refused';
    case 'waiting':
    case 'ready':
    case 'running':
    case 'failed':
    case 'halved':
    case 'overdue':
    case undefined:
      return 'pending';
  }
}

function toAttempt({ answer, startedAt, endedAt, ...attempt }: Attempt, withAnswers: boolean) {
  return {
    ...attempt,
    startedAt: new Date(startedAt).toISOString(),
    endedAt: new Date(endedAt).toISOString(),
    ...(withAnswers && answer !== undefined && { answer }),
  };
}

interface ReadOptions {
  /** Includes the service's own messages, in which no other guest is named. */
  readonly answers: boolean;
  /** Whether those messages may name the guest of the booking; they may if absent. */
  readonly showsGuest?: boolean;
  /** Undefined where silence means nothing. */
  readonly silence: Silence | undefined;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Everything known of a booking reference, the newest run first: as the ledger has it, and as it is shown. */
export async function readHistories(
  ledger: ReadOnlyLedger,
  reference: string,
  { answers, showsGuest, silence, today, now }: ReadOptions,
) {
  const traces = await ledger.bookings.trace(reference);
  const shown = answers
    ? await Promise.all(traces.map((trace) => maskAnswers(ledger, trace, { showsGuest })))
    : traces;
  const { mappings, hotels, cases } = ledger;
  const compare = createHotelComparer({ hotels, clock: () => now });
  const pairs = await findTracedHotels(traces, { mappings, compare });
  const found = await findTracedCases(traces, { cases, today });
  return shown.map((trace, index) => ({
    trace,
    history: toHistory(trace, {
      withAnswers: answers,
      hotels: pairs[index],
      case: found[index],
      silence,
    }),
  }));
}

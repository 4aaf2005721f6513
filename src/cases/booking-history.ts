import { formatInstant } from '../base/format.js';
import { type Booking, guestNameFields, serviceFields } from '../booking/booking.js';
import { stayOf } from '../booking/stay.js';
import { readBooking } from '../booking/stored-line.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { Attempt } from '../ledger/steps.js';
import type { Trace } from '../ledger/tracing.js';
import { type CopiedHotel, readCopiedHotels } from '../mappings/copied-hotels.js';
import { createHotelComparer, type HotelPair } from '../mappings/hotels/compare-hotels.js';
import { pairColumns, pairToCells, pairToJson } from '../mappings/hotels/shown-hotels.js';
import type { Why } from '../review/lists/listed-lines.js';
import type { ListedBooking } from '../review/lists/listing.js';
import type { createSentComparer, SentComparison } from '../review/stored/as-sent.js';
import { maskAnswers, maskBooking } from '../review/stored/stored-line.js';
import { type Suspicion, toSuspicion } from '../review/suspects/listing.js';
import { type BookingState, type Case, stateOfBooking } from '../rules/case.js';
import { judgeBooking, type UnknownReason } from '../rules/verdict.js';

/* Bookings as people and programs see them: the history of one, and those in lists. */

/** Everything known of a booking reference, the newest run first: as the ledger has it, and as it is shown. */
export async function readHistories(
  ledger: ReadOnlyLedger,
  reference: string,
  {
    answers,
    showsGuest,
    compareSent,
    today,
    now,
  }: {
    /** Includes the service's own messages, in which no other guest is named. */
    readonly answers: boolean;
    /** Whether those messages may name the guest of the booking; they may if absent. */
    readonly showsGuest?: boolean;
    /** Says whether what was sent can be rendered again. It reads the whole batch, or the whole file. */
    readonly compareSent?: ReturnType<typeof createSentComparer>;
    /** YYYY-MM-DD, in the account's zone. */
    readonly today: string;
    /** Epoch milliseconds. */
    readonly now: number;
  },
) {
  const traces = await ledger.bookings.trace(reference);
  const states = new Map<number, BookingState>();
  for (const { id, booking } of await ledger.cases.findBookings(reference))
    states.set(id, stateOfBooking(booking, today));
  const mappings = await findMappings(ledger, traces, now);
  const { readUntil: emailsReadUntil } = await ledger.mails.describeMailbox();
  const histories: { readonly trace: Trace; readonly history: BookingHistory }[] = [];
  for (const [index, found] of traces.entries()) {
    const { hotels, inCase } = mappings[index] ?? {};
    const trace = answers ? await maskAnswers(ledger, found, showsGuest) : found;
    // A booking may not be in its case, such as a stay that was over when the case was opened.
    const ofCase = inCase && {
      ...{ id: inCase.id, state: inCase.state, origins: inCase.origins },
      bookingState: states.get(inCase.id) ?? null,
    };
    const renderedAgain = await compareSent?.(found);
    const shown = { withAnswers: answers, emailsReadUntil, hotels, case: ofCase, renderedAgain };
    histories.push({ trace, history: toHistory(trace, shown) });
  }
  return histories;
}

/** The hotels and the case of each trace; a record that was rejected has no known ones. */
async function findMappings(ledger: ReadOnlyLedger, traces: readonly Trace[], now: number) {
  const keys = traces.map((trace) => {
    const booking: Partial<Booking> = trace.kind === 'booking' ? readBooking(trace.line) : {};
    const { providerName = '', providerHotelId = '', serviceId = 0 } = booking;
    const { checkIn: checkInDate } = stayOf(booking, trace.run.day);
    return { providerName, providerHotelId, serviceId, checkInDate };
  });
  const compare = createHotelComparer({ hotels: ledger.hotels, clock: () => now });
  const compared = await compare(await readCopiedHotels(ledger.mappings, keys));
  const cases = await ledger.cases.findByKeys(keys);
  return compared.map(({ serviceId, copyServiceId, copy, hotels }, index) => ({
    hotels: { ...hotels, copyServiceId, copy, serviceId },
    inCase: cases[index],
  }));
}

export interface HistoryOptions {
  /** Includes the service's own messages, which may name a guest: only on request. */
  readonly withAnswers: boolean;
  /** The booked hotel, and the one that the local copy of the mappings has now, if known. */
  readonly hotels?: (HotelPair & CopiedHotel & { readonly serviceId: number }) | undefined;
  /** The case of its mapping; the state of the booking within it is null if it isn't in it. */
  readonly case?:
    | (Pick<Case, 'id' | 'state' | 'origins'> & { readonly bookingState: BookingState | null })
    | undefined;
  /** Until when the mailbox was read; undefined if it never was. */
  readonly emailsReadUntil?: number | undefined;
  /** Whether what was sent can be rendered again, if that was looked at. */
  readonly renderedAgain?: SentComparison | undefined;
}

type SentHistory = ReturnType<typeof toSentHistory>;

/** The history of one booking in one run; of a record that was rejected there is no more than its place. */
export type BookingHistory = Partial<Omit<SentHistory, 'state'>> &
  Pick<SentHistory, 'runId' | 'day' | 'runState' | 'verdict'> & {
    readonly state: SentHistory['state'] | 'rejected';
    readonly rejected?: { readonly place: number; readonly reason: string };
  };

/**
 * What the audit trail may hold of a typed reference. A text that no booking has may be a name, even where a rejected record has it in the
 * reference's column.
 */
export function subjectOf(reference: string, histories: readonly BookingHistory[]): string | undefined {
  return histories.some(({ state }) => state !== 'rejected') ? reference : undefined;
}

export function toHistory(trace: Trace, options: HistoryOptions): BookingHistory {
  if (trace.kind === 'booking') return toSentHistory(trace, options);
  const { run, place, reason } = trace;
  return {
    runId: run.id,
    day: run.day,
    runState: run.state,
    state: 'rejected',
    verdict: 'unknown',
    verdictReason: 'not-delivered',
    rejected: { place, reason },
  };
}

function toSentHistory(
  trace: Extract<Trace, { readonly kind: 'booking' }>,
  { withAnswers, hotels, case: ofCase, emailsReadUntil, renderedAgain }: HistoryOptions,
) {
  const { run } = trace;
  const { stream, step, suspect, extraValues, namedByEmailAt, mappingNamedByEmailAt } = trace;
  const judged = judgeBooking(trace);
  const isDone = step?.state === 'done';
  return {
    runId: run.id,
    day: run.day,
    runState: run.state,
    state: isDone
      ? ('delivered' as const)
      : step?.state === 'refused'
        ? ('refused' as const)
        : ('pending' as const),
    booking: maskBooking(readBooking(trace.line)),
    verdict: judged.verdict,
    ...(judged.verdict === 'unknown' && { verdictReason: judged.reason }),
    // No e-mail that arrived by then names it. That says nothing about its mapping.
    ...(judged.verdict === 'unknown' &&
      judged.reason === 'by-email' &&
      emailsReadUntil !== undefined && { notNamedUntil: new Date(emailsReadUntil).toISOString() }),
    // When the first e-mail that names it was received, and the first that names its mapping without its reference.
    ...(namedByEmailAt !== undefined && { namedByEmailAt: new Date(namedByEmailAt).toISOString() }),
    ...(mappingNamedByEmailAt !== undefined && {
      mappingNamedByEmailAt: new Date(mappingNamedByEmailAt).toISOString(),
    }),
    ...(ofCase && { case: ofCase }),
    // It went by body in a run by file, because it can't be in the file.
    ...(stream === 'posted' && run.delivery === 'file' && { posted: true as const }),
    // The source holds another hotel or stay under its reference now: it does not count for its day.
    ...(trace.isSuperseded && { superseded: true as const }),
    ...(hotels && { hotels }),
    ...(suspect && { suspect: toSuspicion(suspect) }),
    ...(extraValues && { kept: extraValues }),
    ...(step && { step: step.name }),
    attempts: trace.attempts.map((attempt) => toAttempt(attempt, withAnswers)),
    ...(renderedAgain && { renderedAgain }),
  };
}

function toAttempt({ answer, startedAt, endedAt, ...attempt }: Attempt, withAnswers: boolean) {
  return {
    ...attempt,
    startedAt: new Date(startedAt).toISOString(),
    endedAt: new Date(endedAt).toISOString(),
    ...(withAnswers && answer !== undefined && { answer }),
  };
}

/** A history as `show --json` prints it. */
export function historyToJson({ hotels, ...history }: BookingHistory) {
  return {
    ...history,
    // The master hotel that the copy has now; null if it has none.
    ...(hotels && { copyServiceId: hotels.copyServiceId, copy: hotels.copy, ...pairToJson(hotels) }),
  };
}

/** The verdict in a sentence, why none is known, and whether it still counts. */
export function describeVerdict(history: BookingHistory, show: (instant: number) => string): string {
  const verdict = describeOwnVerdict(history, show);
  return history.superseded
    ? `${verdict}; superseded: its source held another hotel or stay under this reference later`
    : verdict;
}

function describeOwnVerdict(history: BookingHistory, show: (instant: number) => string): string {
  const { verdict, verdictReason, state, posted } = history;
  switch (verdict) {
    case 'correct':
      return 'its mapping is correct';
    case 'incorrect':
      return `affected, its mapping is incorrect${describeNaming(history, show)}`;
    case 'unknown':
      if (state === 'refused') return 'unknown, the service refused it';
      if (verdictReason === 'by-email')
        return `unknown, it ${posted ? "can't be in the file and " : ''}went by body, ${describeNoNaming(history, show)}`;
      return `unknown, ${reasons[verdictReason ?? 'not-delivered']}`;
  }
}

function describeNaming(
  { namedByEmailAt, mappingNamedByEmailAt }: BookingHistory,
  show: (instant: number) => string,
): string {
  if (namedByEmailAt !== undefined) return ` (named by e-mail of ${show(Date.parse(namedByEmailAt))})`;
  if (mappingNamedByEmailAt === undefined) return '';
  return ` (its hotel was named by e-mail of ${show(Date.parse(mappingNamedByEmailAt))})`;
}

/** No news is no verdict. */
function describeNoNaming({ notNamedUntil }: BookingHistory, show: (instant: number) => string): string {
  return notNamedUntil === undefined
    ? 'and the service reports such verdicts by e-mail only'
    : `and is not named by any e-mail up to ${show(Date.parse(notNamedUntil))}`;
}

const reasons: Readonly<Record<Exclude<UnknownReason, 'by-email'>, string>> = {
  'not-in-result': 'the result does not name it',
  unclear: 'the result names it without a readable verdict about this master hotel',
  'awaiting-result': 'no result has arrived yet',
  'not-delivered': 'it was not delivered',
};

/** What the copy says about one booking, in a few words. */
export function describeSuspicion(
  { reason, copyServiceId, movedAt }: Suspicion,
  show = formatInstant,
): string {
  const seen = movedAt === null ? '' : ` (seen ${show(Date.parse(movedAt))})`;
  if (reason === 'other-master')
    return `suspect: the local copy has its hotel under ServiceId ${copyServiceId}${movedAt === null ? '' : ', to which it was moved'}${seen}`;
  return copyServiceId === null
    ? `suspect: its mapping was deleted${seen}`
    : `suspect: its mapping changed to this ServiceId recently${seen}`;
}

/** Why a booking is in a list, in a column; undefined where the list itself says it. */
export function describeWhy(why: Why & { readonly copyServiceId: number | null }): string | undefined {
  const { verdictReason, code, field, reason, movedAt, copyServiceId } = why;
  if (field !== undefined) return reason === 'missing' ? `no ${field}` : `${field} reads as null`;
  if (reason === 'moved')
    return `${copyServiceId === null ? 'deleted' : 'moved'} ${movedAt?.slice(0, 'YYYY-MM-DD'.length) ?? ''}`;
  return verdictReason ?? code ?? reason;
}

/** Why a booking is listed. Each list has some of them. */
const whyMembers = ['verdictReason', 'reason', 'field', 'movedAt', 'code', 'step'] as const;

/** The columns of `--csv`: all but guests' names. */
export function listBookingColumns(isRange: boolean, extraLabels: readonly string[]): string[] {
  return [
    ...(isRange ? ['day'] : []),
    ...serviceFields.filter((field) => !guestNameFields.has(field)),
    ...['copyServiceId', 'copy', 'caseId', 'caseState', 'runId', ...whyMembers],
    ...extraLabels,
    ...pairColumns,
  ];
}

/** A listed booking as `--json` prints it. @param isRange whether the list is of several days */
export function bookingToJson(booking: ListedBooking, isRange: boolean): Record<string, unknown> {
  const { extraValues, hotels } = booking;
  return { ...toCommon(booking, isRange), ...(extraValues && { kept: extraValues }), ...pairToJson(hotels) };
}

/** A booking under the columns of `--csv`. */
export function bookingToCells(booking: ListedBooking, isRange: boolean): Record<string, unknown> {
  return { ...booking.extraValues, ...toCommon(booking, isRange), ...pairToCells(booking.hotels) };
}

function toCommon(booking: ListedBooking, isRange: boolean): Record<string, unknown> {
  const { day, runId, fields, copyServiceId, copy, case: found } = booking;
  const why = whyMembers.flatMap((name) => (booking[name] === undefined ? [] : [[name, booking[name]]]));
  return {
    ...(isRange && { day }),
    ...fields,
    ...{ copyServiceId, copy },
    ...{ caseId: found?.id ?? null, caseState: found?.state ?? null, runId },
    ...Object.fromEntries(why),
  };
}

import type { KeptValues } from '../booking/kept-values.js';
import type { Attempt } from '../ledger/attempts.js';
import { type BookingState, type Case, stateOfBooking } from '../ledger/case.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { StepState } from '../ledger/step.js';
import type { Trace } from '../ledger/tracing.js';
import { type CopiedHotel, readCopiedHotels } from '../mappings/copied-hotels.js';
import { createHotelComparer, type HotelPair } from '../mappings/hotels/compare-hotels.js';
import { pairToJson } from '../mappings/hotels/shown-hotels.js';
import { maskAnswers, readBooking, readMaskedFields } from '../review/stored/stored-line.js';
import { type Suspicion, toSuspicion } from '../review/suspects/listing.js';
import { type BookingVerdict, judgeBooking, type Silence, type UnknownReason } from '../review/verdict.js';
import type { Why } from '../review/verdicts/listing.js';
import { formatInstant } from '../text/format.js';
import { findCasesOf } from './booked-cases.js';

/** The hotels of a booking in one run. */
interface TracedHotels extends HotelPair, CopiedHotel {
  readonly serviceId: number;
}

/** The case of a booking in one run. */
interface TracedCase extends Pick<Case, 'id' | 'state' | 'origins'> {
  /** Of the booking within the case; null if it isn't in it, such as a stay that was over when the case was opened. */
  readonly bookingState: BookingState | null;
}

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
  if (judged.verdict === 'unknown') return { verdict: 'unknown', verdictReason: judged.reason };
  const isBySilence = judged.verdict === 'correct' && judged.bySilence;
  return { verdict: judged.verdict, ...(isBySilence && { bySilence: true }) };
}

function bookingState(step: StepState | undefined): BookingHistory['state'] {
  if (step === 'done') return 'delivered';
  return step === 'refused' ? 'refused' : 'pending';
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
    ? await Promise.all(traces.map((trace) => maskAnswers(ledger, trace, showsGuest)))
    : traces;
  const mappings = await findMappings(ledger, reference, traces, { today, now });
  return shown.map((trace, index) => ({
    trace,
    history: toHistory(trace, { withAnswers: answers, silence, ...mappings[index] }),
  }));
}

/** As many as a look-up in the copy takes. */
const lookedUpAtOnce = 1_000;

/** The hotels and the case of each trace; nothing for a record that was rejected. */
async function findMappings(
  ledger: ReadOnlyLedger,
  reference: string,
  traces: readonly Trace[],
  { today, now }: Pick<ReadOptions, 'today' | 'now'>,
): Promise<readonly Pick<HistoryOptions, 'hotels' | 'case'>[]> {
  const keys = traces.map((trace) => {
    if (trace.kind !== 'booking') return undefined;
    const booking = readBooking(trace.line, trace.form);
    const { providerName = '', providerHotelId = '', serviceId, checkInDate } = booking;
    return { providerName, providerHotelId, serviceId, checkInDate };
  });
  const known = keys.filter((key) => key !== undefined);
  const copied: CopiedHotel[] = [];
  for (let from = 0; from < known.length; from += lookedUpAtOnce)
    copied.push(...(await readCopiedHotels(ledger.mappings, known.slice(from, from + lookedUpAtOnce))));
  const compare = createHotelComparer({ hotels: ledger.hotels, clock: () => now });
  const stays = known.map((key, index) => ({ copyServiceId: null, ...key, ...copied[index] }));
  const pairs = await compare(stays);
  const cases = await findCasesOf(known, ledger);
  const states = new Map<number, BookingState>();
  for (const { id, booking } of await ledger.cases.findBookings(reference))
    states.set(id, stateOfBooking(booking, today));
  return keys.map((key) => {
    const index = key ? known.indexOf(key) : -1;
    const [pair, copy, item] = [pairs[index], copied[index], cases[index]];
    if (!key || !pair || !copy) return {};
    return {
      hotels: { ...pair, ...copy, serviceId: key.serviceId },
      ...(item && {
        case: {
          ...{ id: item.id, state: item.state, origins: item.origins },
          bookingState: states.get(item.id) ?? null,
        },
      }),
    };
  });
}

/** The verdict in a sentence, and why none is known. */
export function describeVerdict(history: BookingHistory, show: (instant: number) => string): string {
  const { verdict, verdictReason, state, posted, bySilence } = history;
  switch (verdict) {
    case 'correct':
      return bySilence
        ? 'counts as correct, because no e-mail named it in time (verdicts.silenceMeansCorrectAfter)'
        : 'its mapping is correct';
    case 'incorrect':
      return `affected, its mapping is incorrect${describeNaming(history, show)}`;
    case 'unknown':
      if (state === 'refused') return 'unknown, the service refused it';
      if (verdictReason === 'by-email' && posted)
        return "unknown: it can't be in the file and went by body; the service reports such verdicts by e-mail only";
      return `unknown, ${describeReason(verdictReason ?? 'not-delivered')}`;
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

function describeReason(reason: UnknownReason): string {
  switch (reason) {
    case 'not-in-result':
      return 'the result does not name it';
    case 'unclear':
      return 'the result names it without a readable verdict about this master hotel';
    case 'awaiting-result':
      return 'no result has arrived yet';
    case 'by-email':
      return 'it went by body, and the service reports such verdicts by e-mail only';
    case 'not-delivered':
      return 'it was not delivered';
  }
}

/** What the copy says about one booking, in a few words. */
export function describeSuspicion(
  { reason, copyServiceId, movedAt }: Suspicion,
  show = formatInstant,
): string {
  const seen = movedAt === null ? '' : ` (seen ${show(Date.parse(movedAt))})`;
  switch (reason) {
    case 'other-master':
      return `suspect: the local copy has its hotel under ServiceId ${copyServiceId}${movedAt === null ? '' : ', to which it was moved'}${seen}`;
    case 'moved':
      return copyServiceId === null
        ? `suspect: its mapping was deleted${seen}`
        : `suspect: its mapping changed to this ServiceId recently${seen}`;
  }
}

/** Why a booking is in a list, in a column; undefined where the list itself says it. */
export function describeWhy(why: Why & { readonly copyServiceId: number | null }): string | undefined {
  const { verdictReason, code, field, reason, movedAt, copyServiceId } = why;
  if (field !== undefined) return reason === 'missing' ? `no ${field}` : `${field} reads as null`;
  if (reason === 'moved')
    return `${copyServiceId === null ? 'deleted' : 'moved'} ${movedAt?.slice(0, 'YYYY-MM-DD'.length) ?? ''}`;
  return verdictReason ?? code ?? reason;
}

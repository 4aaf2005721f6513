import { findTracedCases } from '../cases/booked-cases.js';
import type { CaseReader } from '../cases/case-store.js';
import type { CopyReader } from '../mappings/copied-hotels.js';
import { createHotelComparer } from '../mappings/hotels/compare-hotels.js';
import type { HotelReader } from '../mappings/hotels/hotel-contents.js';
import type { History, Trace } from '../review/history.js';
import type { BatchReader } from '../review/ledger.js';
import { maskAnswers } from '../review/stored/masked-answers.js';
import type { Silence } from '../review/verdict.js';
import { findTracedHotels } from '../review/verdicts/booked-hotels.js';
import { type BookingHistory, toHistory } from './booking-history.js';

export interface HistoryLedger extends BatchReader, Pick<History, 'trace'> {
  readonly mappings: CopyReader;
  readonly hotels: Pick<HotelReader, 'lookUp'>;
  readonly cases: Pick<CaseReader, 'findByKeys' | 'findBookings'>;
}

export interface ReadHistoriesOptions {
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

/** A booking in one run, as the ledger has it and as it is shown. */
export interface TracedHistory {
  readonly trace: Trace;
  readonly history: BookingHistory;
}

/** Everything known of a booking reference, the newest run first. */
export async function readHistories(
  ledger: HistoryLedger,
  reference: string,
  { answers, showsGuest, silence, today, now }: ReadHistoriesOptions,
): Promise<TracedHistory[]> {
  const traces = await ledger.trace(reference);
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

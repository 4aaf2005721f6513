import type { Booking } from '../../booking/booking.js';
import { lineEnd } from './line-end.js';
import type { ResultEnd, ResultPart } from './result.js';
import type { ResultField } from './result-header.js';
import { indexResult, type ResultIndex, verdictBits } from './result-index.js';
import { readReviewLine } from './review-line.js';
import { createTally } from './tally.js';

/** A stored batch of the review file, as the ledger keeps it. */
export interface SentBatch {
  readonly batch: number;
  /** Each line with its line end. */
  readonly lines: Buffer;
}

export interface AffectedBooking {
  readonly batch: number;
  /** Its place in the batch, counted from 0. */
  readonly place: number;
  readonly bookingReferenceId: string | undefined;
}

/** How a result stands to the bookings that were sent. Rows are the result's, bookings are ours. */
export interface JoinedResult {
  /** What the result has columns for. */
  readonly fields: readonly ResultField[];
  readonly end: ResultEnd;
  readonly sent: number;
  /** Bookings that no row names. */
  readonly unanswered: number;
  /** Rows that name a booking that was not sent: where there is one, the result is not this file's. */
  readonly foreign: number;
  /** Rows that fit by the booking reference alone: they name another hotel or provider than was sent. */
  readonly loose: number;
  /** Rows that name nothing, such as a line of totals; all of them, where no column that names a booking is there. */
  readonly unidentified: number;
  /** Rows that say that a mapping is incorrect. */
  readonly incorrect: number;
  /** Rows without a verdict that could be understood. */
  readonly unclear: number;
  /** The affected bookings of each batch that has some. Reads the sent bookings again, where a row says "incorrect". */
  findAffected(): AsyncGenerator<readonly AffectedBooking[], void, undefined>;
}

/**
 * Joins a result with the bookings that were sent, whatever the order of both.
 *
 * A row belongs to every booking of the same reference, master id, provider and hotel id, as far as the result has
 * these columns: a verdict is one on a mapping. A row with a reference that was sent, but with other ids, belongs to the
 * bookings of that reference that no row fits exactly, or to all of them where there is none. Of several verdicts on a
 * booking, "incorrect" counts.
 *
 * Holds some 60 bytes a row, and no text. `readSent` is called once, and once more by each `findAffected`. What either
 * reading throws comes through.
 */
export async function joinResult(
  parts: AsyncIterable<ResultPart>,
  readSent: () => AsyncIterable<SentBatch>,
): Promise<JoinedResult> {
  const result = await indexResult(parts);
  const comparison = createComparison(result);
  for await (const { lines } of readSent()) for (const booking of readLines(lines)) comparison.add(booking);
  const { isAffected, ...counts } = comparison.conclude();
  return {
    fields: result.fields,
    end: result.end,
    unidentified: result.unidentified,
    incorrect: result.incorrect,
    unclear: result.unclear,
    ...counts,
    async *findAffected() {
      if (result.incorrect === 0) return;
      for await (const { batch, lines } of readSent()) {
        const affected: AffectedBooking[] = [];
        readLines(lines).forEach((booking, place) => {
          if (isAffected(booking))
            affected.push({ batch, place, bookingReferenceId: booking.bookingReferenceId });
        });
        if (affected.length > 0) yield affected;
      }
    },
  };
}

function createComparison(result: ResultIndex) {
  let sent = 0;
  let fitted = 0;
  /** By key: 1 where such a booking was sent. */
  const isSent = createTally();
  /** By reference: bookings sent, and those among them that no row fits exactly. */
  const sentOf = createTally();
  const unfittedOf = createTally();
  /** By reference: the verdicts of the rows that fit by it alone. */
  const looseVerdictsOf = createTally();

  const findKey = (booking: Booking) => result.keys.find(result.keyOf(booking));
  const findReference = (booking: Booking) => result.references.find([booking.bookingReferenceId ?? '']);

  /** Rows that fit no booking exactly: those that fit one by its reference, and the others. */
  function countUnfittedRows(): { readonly loose: number; readonly foreign: number } {
    let loose = 0;
    let foreign = 0;
    for (let key = 0; key < result.keys.size; key += 1) {
      if (isSent.get(key) === 1) continue;
      const rows = result.rowsOfKey.get(key);
      const reference = result.referenceOfKey.get(key) - 1;
      if (reference >= 0 && sentOf.get(reference) > 0) {
        loose += rows;
        looseVerdictsOf.set(reference, looseVerdictsOf.get(reference) | result.verdictsOfKey.get(key));
      } else foreign += rows;
    }
    return { loose, foreign };
  }

  /** Bookings that no row fits exactly, and one by the reference alone. */
  function countLooselyFitted(): number {
    let bookings = 0;
    for (let reference = 0; reference < result.references.size; reference += 1)
      if (looseVerdictsOf.get(reference) !== 0) bookings += unfittedOf.get(reference);
    return bookings;
  }

  return {
    add(booking: Booking): void {
      sent += 1;
      const key = findKey(booking);
      if (key !== undefined) {
        fitted += 1;
        isSent.set(key, 1);
      }
      const reference = findReference(booking);
      if (reference === undefined) return;
      sentOf.set(reference, sentOf.get(reference) + 1);
      if (key === undefined) unfittedOf.set(reference, unfittedOf.get(reference) + 1);
    },
    /** Once all bookings were added. */
    conclude() {
      const { loose, foreign } = countUnfittedRows();
      return {
        sent,
        unanswered: sent - fitted - countLooselyFitted(),
        foreign,
        loose,
        isAffected(booking: Booking): boolean {
          const key = findKey(booking);
          if (key !== undefined && saysIncorrect(result.verdictsOfKey.get(key))) return true;
          const reference = findReference(booking);
          if (reference === undefined || !saysIncorrect(looseVerdictsOf.get(reference))) return false;
          return key === undefined || unfittedOf.get(reference) === 0;
        },
      };
    },
  };
}

function saysIncorrect(verdicts: number): boolean {
  return (verdicts & verdictBits.incorrect) !== 0;
}

function readLines(lines: Buffer): Booking[] {
  return lines.toString().split(lineEnd).slice(0, -1).map(readReviewLine);
}

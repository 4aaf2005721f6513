import type { AffectedPlaces } from '../ledger.js';
import { type ResultEnd, type ResultReading, readResult } from './result.js';
import { compareResult } from './result-comparison.js';
import { readEcho } from './result-echo.js';
import type { ResultField } from './result-header.js';

/** A stored batch of the review file, as the ledger keeps it. */
export interface SentBatch {
  readonly batch: number;
  /** Each line with its line end. */
  readonly lines: Buffer;
}

export interface JoinSources {
  /** The result's bytes, from the beginning each time. */
  readonly readBytes: () => AsyncIterable<Uint8Array>;
  /** The bookings that were sent, from the beginning each time. */
  readonly readSent: () => AsyncIterable<SentBatch>;
}

/** How a result stands to the bookings that were sent, counted. Rows are the result's, bookings are ours. */
export interface ResultTotals {
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
}

/** What a result says, whichever way it was read. */
export interface Judgement {
  readonly totals: ResultTotals;
  /** The places of the affected bookings among stored lines, counted from 0. */
  listAffected(lines: Buffer): readonly number[];
}

export interface JoinedResult extends ResultTotals {
  /** The affected bookings of each batch that has some. Reads the sent bookings again, where a row says "incorrect". */
  findAffected(): AsyncGenerator<AffectedPlaces, void, undefined>;
}

/**
 * Joins a result with the bookings that were sent, whatever the order of both.
 *
 * A row belongs to every booking of the same reference, master id, provider and hotel id, as far as the result has
 * these columns: a verdict is one on a mapping. A row with a reference that was sent, but with other ids, belongs to the
 * bookings of that reference that no row fits exactly, or to all of them where there is none. Of several verdicts on a
 * booking, "incorrect" counts.
 *
 * A result that repeats the file row by row is read at the speed of its bytes and costs no memory but for its incorrect
 * rows. Any other is read again from its beginning, and takes some 60 bytes a row; no text is kept. What either
 * reading throws comes through.
 */
export async function joinResult(sources: JoinSources, reading: ResultReading): Promise<JoinedResult> {
  const { readBytes, readSent } = sources;
  const { totals, listAffected } =
    (await readEcho(sources, reading)) ?? (await compareResult(readResult(readBytes(), reading), readSent));
  return {
    ...totals,
    async *findAffected() {
      if (totals.incorrect === 0) return;
      for await (const { batch, lines } of readSent()) {
        const places = listAffected(lines);
        if (places.length > 0) yield { batch, places };
      }
    },
  };
}

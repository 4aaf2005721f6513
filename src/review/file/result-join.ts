import type { AffectedPlaces } from '../history.js';
import { type Counters, createCounters, createKeyTable } from './key-table.js';
import {
  type ResultEnd,
  type ResultField,
  type ResultPart,
  type ResultReading,
  readResult,
} from './result.js';
import { readEcho } from './result-echo.js';
import { indexResult, type ResultIndex, saysIncorrect } from './result-index.js';
import { createSentNameReader, forEachLine } from './sent-names.js';

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

/**
 * Compares a result of any form and order with the bookings that were sent: see joinResult for what belongs to what.
 * Reads what was sent once more where rows fit no booking exactly.
 */
export async function compareResult(
  parts: AsyncIterable<ResultPart>,
  readSent: JoinSources['readSent'],
): Promise<Judgement> {
  const result = await indexResult(parts);
  const { fields, end, key, unidentified, incorrect, unclear } = result;
  const readName = createSentNameReader(key);
  let sent = 0;
  let fitted = 0;
  /** By key: 1 where such a booking was sent. */
  const isSent = createCounters();
  for await (const { lines } of readSent())
    forEachLine(lines, (start) => {
      sent += 1;
      const number = result.keys.find(readName(lines, start));
      if (number === undefined) return;
      fitted += 1;
      isSent.set(number, 1);
    });

  const loosely = await matchLooseRows(result, isSent, readSent);
  return {
    totals: {
      fields,
      end,
      sent,
      unanswered: sent - fitted - loosely.answered,
      foreign: loosely.foreign,
      loose: loosely.loose,
      unidentified,
      incorrect,
      unclear,
    },
    listAffected(lines) {
      const places: number[] = [];
      forEachLine(lines, (start, place) => {
        const number = result.keys.find(readName(lines, start));
        const isAffected =
          (number !== undefined && saysIncorrect(result.verdictsOfKey.get(number))) ||
          loosely.isAffected(lines, start, { isFitted: number !== undefined });
        if (isAffected) places.push(place);
      });
      return places;
    },
  };
}

/** What comes of the rows that fit no booking exactly. */
export interface LooseRows {
  /** Rows that fit a booking by its reference. */
  readonly loose: number;
  /** The others. */
  readonly foreign: number;
  /** Bookings that no row fits exactly, and one by the reference. */
  readonly answered: number;
  /** Whether such a row says "incorrect" of the booking in the stored line that begins at `start`. */
  isAffected(lines: Buffer, start: number, booking: { readonly isFitted: boolean }): boolean;
}

/**
 * Finds out which bookings the rows belong to that fit none exactly: see joinResult. Reads what was sent where there are
 * such rows.
 *
 * @param isSent by key: 1 where a booking fits
 */
export async function matchLooseRows(
  result: ResultIndex,
  isSent: Counters,
  readSent: JoinSources['readSent'],
): Promise<LooseRows> {
  const readName = createSentNameReader(result.key);
  const readReference = createSentNameReader(['bookingReferenceId']);
  /** Those of the rows that fit no booking. */
  const references = createKeyTable();
  /** By reference: bookings sent, and those among them that no row fits exactly. */
  const sentOf = createCounters();
  const unfittedOf = createCounters();
  /** By reference: what its rows say. */
  const verdictsOf = createCounters();

  const unfittedKeys = function* () {
    for (let key = 0; key < result.keys.size; key += 1) if (isSent.get(key) === 0) yield key;
  };

  for (const key of unfittedKeys()) {
    const hash = result.referenceOf(key);
    if (hash) references.findOrAdd(hash);
  }
  if (references.size > 0)
    for await (const { lines } of readSent())
      forEachLine(lines, (start) => {
        const reference = references.find(readReference(lines, start));
        if (reference === undefined) return;
        sentOf.set(reference, sentOf.get(reference) + 1);
        if (result.keys.find(readName(lines, start)) === undefined)
          unfittedOf.set(reference, unfittedOf.get(reference) + 1);
      });

  let loose = 0;
  let foreign = 0;
  for (const key of unfittedKeys()) {
    const rows = result.rowsOfKey.get(key);
    const hash = result.referenceOf(key);
    const reference = hash && references.find(hash);
    if (reference !== undefined && sentOf.get(reference) > 0) {
      loose += rows;
      verdictsOf.set(reference, verdictsOf.get(reference) | result.verdictsOfKey.get(key));
    } else foreign += rows;
  }
  let answered = 0;
  for (let reference = 0; reference < references.size; reference += 1)
    if (verdictsOf.get(reference) !== 0) answered += unfittedOf.get(reference);

  return {
    loose,
    foreign,
    answered,
    isAffected(lines, start, { isFitted }) {
      if (loose === 0) return false;
      const reference = references.find(readReference(lines, start));
      if (reference === undefined || !saysIncorrect(verdictsOf.get(reference))) return false;
      return !isFitted || unfittedOf.get(reference) === 0;
    },
  };
}

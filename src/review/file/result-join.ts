import type { StoredBatch } from '../stored-batches.js';
import type { Judged, JudgedPlaces } from '../verdict.js';
import { type Counters, createCounters, createKeyTable } from './key-table.js';
import {
  type ResultEnd,
  type ResultField,
  type ResultPart,
  type ResultReading,
  readResult,
} from './result.js';
import { createEchoReader } from './result-echo.js';
import {
  indexResult,
  mappingFields,
  type ResultIndex,
  sayVerdict,
  withCorrect,
  withoutCorrect,
} from './result-index.js';
import { createSentNameReader, forEachLine } from './sent-names.js';

export interface JoinSources {
  /** The bookings that were sent, from the start on each call. A batch is valid until the next one is read. */
  readonly readSent: () => AsyncIterable<StoredBatch>;
  /** The result's bytes, from the start, once all of them have arrived. */
  readonly readBytes: () => AsyncIterable<Uint8Array>;
}

/** Joins a result while it arrives. */
export interface ResultJoin {
  /** Takes the next bytes, which belong to the caller. */
  take(block: Uint8Array): Promise<void>;
  /** Call this after the last bytes. */
  end(): Promise<JoinedResult>;
}

/**
 * How a result relates to the bookings that were sent, in numbers. Rows belong to the result, bookings are ours.
 */
export interface ResultTotals {
  /** The fields that the result has columns for. */
  readonly fields: readonly ResultField[];
  /** The names of all its columns. */
  readonly columns: readonly string[];
  readonly end: ResultEnd;
  readonly sent: number;
  /** Bookings that no row names. */
  readonly unanswered: number;
  /** Rows for bookings that were not sent. If there are any, the result belongs to another file. */
  readonly foreign: number;
  /** Rows that match by booking reference only: they name another hotel or provider than was sent. */
  readonly loose: number;
  /** Rows that identify no booking, such as a line of totals; all rows if no column identifies bookings. */
  readonly unidentified: number;
  /** Rows that call a mapping incorrect. */
  readonly incorrect: number;
  /** Rows without a readable verdict. */
  readonly unreadable: number;
}

/** The indexes of the bookings among stored lines whose mapping the result does not call correct. */
export type PlacesByVerdict = Readonly<Record<Judged, readonly number[]>>;

/** What a result says, independent of how it was read. */
export interface Judgement {
  readonly totals: ResultTotals;
  /** Judges the bookings of stored lines. */
  judge(lines: Buffer): PlacesByVerdict;
}

export interface JoinedResult extends ResultTotals {
  /**
   * The bookings of each batch whose mapping the result does not call correct. Reads the sent bookings once more, unless
   * there are none.
   */
  findJudged(): AsyncGenerator<JudgedPlaces, void, undefined>;
}

/**
 * Joins a result with the bookings that were sent, in any order.
 *
 * A verdict is about a mapping, so a row belongs to all bookings with the same reference, master id, provider and
 * hotel id, as far as the result has these columns. A row with a known reference but other ids belongs to the
 * bookings of that reference without an exact match, or to all of them if each has one. It says "correct" only about those
 * with its master id: about the others it says nothing readable. If a booking has several verdicts, "incorrect" wins over
 * "correct", and both win over an unreadable one.
 *
 * A result that repeats the file row by row is read while it arrives, with memory for incorrect rows only. Any other is
 * read from the start once it is there and takes about 70 bytes per row; no text is kept. Errors of either input are
 * rethrown.
 */
export function startJoin({ readBytes, readSent }: JoinSources, reading: ResultReading): ResultJoin {
  const echo = createEchoReader(readSent, reading);
  return {
    take: (block) => echo.take(block),
    async end() {
      const { totals, judge } =
        (await echo.end()) ?? (await compareResult(readResult(readBytes(), reading), readSent));
      return {
        ...totals,
        async *findJudged() {
          const { incorrect, unreadable, unanswered, loose } = totals;
          if (incorrect + unreadable + unanswered + loose === 0) return;
          for await (const { batch, lines } of readSent()) {
            const found = judge(lines);
            for (const judged of judgements)
              if (found[judged].length > 0) yield { batch, judged, places: found[judged] };
          }
        },
      };
    },
  };
}

const judgements = ['incorrect', 'not-in-result', 'unclear'] as const satisfies readonly Judged[];

/**
 * Compares a result of any form and order with the bookings that were sent, by the rules of startJoin. Reads the
 * sent bookings once more if rows have no exact match.
 */
export async function compareResult(
  parts: AsyncIterable<ResultPart>,
  readSent: JoinSources['readSent'],
): Promise<Judgement> {
  const result = await indexResult(parts);
  const { fields, columns, end, key, unidentified, incorrect, unreadable } = result;
  const readName = createSentNameReader(key);
  let sent = 0;
  let fitted = 0;
  /** By key: 1 if such a booking was sent. */
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
      columns,
      end,
      sent,
      unanswered: sent - fitted - loosely.answered,
      foreign: loosely.foreign,
      loose: loosely.loose,
      unidentified,
      incorrect,
      unreadable,
    },
    judge(lines) {
      const places: Record<Judged, number[]> = { incorrect: [], 'not-in-result': [], unclear: [] };
      forEachLine(lines, (start, place) => {
        const number = result.keys.find(readName(lines, start));
        const own = number === undefined ? 0 : result.verdictsOfKey.get(number);
        const loose = loosely.verdictsOf(lines, start, { isFitted: number !== undefined });
        const verdict = sayVerdict(own | loose);
        if (verdict !== 'correct') places[verdict].push(place);
      });
      return places;
    },
  };
}

/** The rows without an exact match. */
export interface LooseRows {
  /** Rows that match a booking by its reference. */
  readonly loose: number;
  /** The others. */
  readonly foreign: number;
  /** Bookings without an exact match that a row matches by reference. */
  readonly answered: number;
  /** The combined verdicts of such rows about the booking in the stored line at `start`; 0 for none. */
  verdictsOf(lines: Buffer, start: number, booking: { readonly isFitted: boolean }): number;
}

/**
 * Finds the bookings of rows without an exact match, by the rules of startJoin. Reads the sent bookings if there are
 * such rows.
 *
 * @param isSent by key: 1 if a booking matches
 */
export async function matchLooseRows(
  result: ResultIndex,
  isSent: Counters,
  readSent: JoinSources['readSent'],
): Promise<LooseRows> {
  const readName = createSentNameReader(result.key);
  const readReference = createSentNameReader(['bookingReferenceId']);
  const readMapping = createSentNameReader(mappingFields);
  /** The references of rows without an exact match. */
  const references = createKeyTable();
  /** By reference: bookings sent, and those of them without an exact match. */
  const sentOf = createCounters();
  const unfittedOf = createCounters();
  /** By reference: the verdicts of its rows. */
  const verdictsOf = createCounters();
  /** The master ids that rows call correct, with their reference. */
  const correctMappings = createKeyTable();

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
      const verdicts = result.verdictsOfKey.get(key);
      const mapping = result.mappingOf(key);
      const general = mapping ? withoutCorrect(verdicts) : verdicts;
      if (mapping && general !== verdicts) correctMappings.findOrAdd(mapping);
      loose += rows;
      verdictsOf.set(reference, verdictsOf.get(reference) | general);
    } else foreign += rows;
  }
  let answered = 0;
  for (let reference = 0; reference < references.size; reference += 1)
    if (verdictsOf.get(reference) !== 0) answered += unfittedOf.get(reference);

  return {
    loose,
    foreign,
    answered,
    verdictsOf(lines, start, { isFitted }) {
      if (loose === 0) return 0;
      const reference = references.find(readReference(lines, start));
      if (reference === undefined) return 0;
      if (isFitted && unfittedOf.get(reference) > 0) return 0;
      const verdicts = verdictsOf.get(reference);
      const isCorrect = correctMappings.find(readMapping(lines, start)) !== undefined;
      return isCorrect ? withCorrect(verdicts) : verdicts;
    },
  };
}

import { forEachLine } from '../../booking/stored-line.js';
import type { StoredBatch } from '../../ledger/batches.js';
import type { Judged } from '../../rules/review-file.js';
import { createEchoReader } from './echo-result.js';
import { createLooseJudge, matchLooseRows } from './loose-rows.js';
import type { ResultReading, ResultTable } from './result.js';
import { countAnswered, indexRows, type RowIndex, verdictBits } from './row-index.js';
import { createKeyReader } from './sent-lines.js';

export interface JoinSources {
  /** The bookings that were sent, from the start on each call. A batch is valid until the next one is read. */
  readonly readSent: () => AsyncIterable<StoredBatch>;
  /** The result's bytes, once all of them have arrived. */
  readonly readBytes: () => AsyncIterable<Uint8Array>;
}

/**
 * How a result relates to the bookings that were sent, in numbers. Rows belong to the result, bookings are ours.
 */
export interface ResultTotals extends ResultTable {
  readonly sent: number;
  /** Bookings that no row names. */
  readonly unanswered: number;
  /** Rows for bookings that were not sent. */
  readonly foreign: number;
  /** Rows that match by booking reference only: they name another hotel or provider than was sent. */
  readonly loose: number;
  /** Rows that identify no booking; all rows if no column identifies bookings. */
  readonly unidentified: number;
  /** Those of them that are lines of totals, or repeat the header. The numbers below don't count them. */
  readonly summaries: number;
  /** Rows that call a mapping incorrect. */
  readonly incorrect: number;
  /** Rows without a readable verdict. */
  readonly unreadable: number;
}

/** What a result says, however it was read. */
export interface Judgement {
  readonly totals: ResultTotals;
  /** The verdict on the booking in the stored line at `start`. */
  judge(lines: Buffer, start: number): Judged | 'correct';
}

/**
 * Joins a result with the bookings that were sent, in any order, while it arrives.
 *
 * A verdict is about a mapping, so a row belongs to all bookings with the same reference, master id, provider and
 * hotel id, as far as the result has these columns. A row with a known reference but other ids belongs to the
 * bookings of that reference without an exact match, or to all of them if each has one. It says "correct" only about those
 * with its master id: about the others it says nothing readable. If a booking has several verdicts, "incorrect" wins over
 * "correct", and both win over an unreadable one. A reference that was not sent is compared once more, without what
 * programs change on the way (see foldReference); it counts if that leaves exactly one booking's reference. Where a reference was erased
 * since, a row whose reference was not sent belongs to the erased bookings with its ids.
 *
 * A result that repeats the file row by row is read while it arrives, with memory for incorrect rows only. Any other is
 * read from the start once it is there and takes about 80 bytes per row; no text is kept. Errors of either input are
 * rethrown.
 */
export function startJoin(sources: JoinSources, reading: ResultReading) {
  const echo = createEchoReader(sources.readSent, reading);
  return {
    /** Takes the next bytes, which belong to the caller. */
    take: echo.take,
    /** Call this after the last bytes. */
    end: async () => (await echo.end()) ?? compareResult(sources, reading),
  };
}

/** Compares a result of any form and order with the bookings that were sent, by the rules of startJoin. */
export async function compareResult(
  { readBytes, readSent }: JoinSources,
  reading: ResultReading,
): Promise<Judgement> {
  const index = await indexRows(readBytes(), reading);
  const sent = await countBookings(index, readSent);
  const others = await matchLooseRows(index, readSent);
  const answered = [index, others.byReference, others.byOtherIds].reduce(
    (sum, groups) => sum + countAnswered(groups),
    0,
  );

  const readKey = createKeyReader(index.key);
  const judgeLoosely = createLooseJudge(others);
  return {
    totals: {
      ...index.table,
      ...index.counts,
      ...{ sent, unanswered: sent - answered, foreign: others.foreign, loose: others.loose },
    },
    judge(lines, start) {
      const group = index.keys.find(readKey(lines, start));
      const exact = group === undefined ? 0 : index.verdicts.get(group);
      return sayVerdict(exact | judgeLoosely(lines, start, group !== undefined));
    },
  };
}

/** Counts the bookings of each key of the result. Returns how many were sent in all. */
async function countBookings(index: RowIndex, readSent: JoinSources['readSent']): Promise<number> {
  const readKey = createKeyReader(index.key);
  let sent = 0;
  for await (const { lines } of readSent())
    forEachLine(lines, (start) => {
      sent += 1;
      const group = index.keys.find(readKey(lines, start));
      if (group !== undefined) index.bookings.add(group, 1);
    });
  return sent;
}

/** What combined verdicts say: "incorrect" wins over "correct", and both over a row without a readable verdict. */
function sayVerdict(verdicts: number): Judged | 'correct' {
  if ((verdicts & verdictBits.incorrect) !== 0) return 'incorrect';
  if ((verdicts & verdictBits.correct) !== 0) return 'correct';
  return verdicts === 0 ? 'not-in-result' : 'unclear';
}

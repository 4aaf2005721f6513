import { readLooseRows } from './loose-rows.js';
import type { ResultPart } from './result.js';
import { indexResult, saysIncorrect } from './result-index.js';
import type { JoinSources, Judgement } from './result-join.js';
import { createSentNameReader, forEachLine } from './sent-names.js';
import { createTally } from './tally.js';

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
  const isSent = createTally();
  for await (const { lines } of readSent())
    forEachLine(lines, (start) => {
      sent += 1;
      const number = result.keys.find(readName(lines, start));
      if (number === undefined) return;
      fitted += 1;
      isSent.set(number, 1);
    });

  const loosely = await readLooseRows(result, isSent, readSent);
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

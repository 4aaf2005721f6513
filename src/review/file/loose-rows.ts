import { createKeyTable } from './key-table.js';
import { type ResultIndex, saysIncorrect } from './result-index.js';
import type { JoinSources } from './result-join.js';
import { createSentNameReader, forEachLine } from './sent-names.js';
import { createTally, type Tally } from './tally.js';

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
export async function readLooseRows(
  result: ResultIndex,
  isSent: Tally,
  readSent: JoinSources['readSent'],
): Promise<LooseRows> {
  const readName = createSentNameReader(result.key);
  const readReference = createSentNameReader(['bookingReferenceId']);
  /** Those of the rows that fit no booking. */
  const references = createKeyTable();
  /** By reference: bookings sent, and those among them that no row fits exactly. */
  const sentOf = createTally();
  const unfittedOf = createTally();
  /** By reference: what its rows say. */
  const verdictsOf = createTally();

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

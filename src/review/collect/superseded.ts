import { type Booking, keyOfBooking } from '../../booking/booking.js';
import { batchStreams } from '../../booking/sending.js';
import { readBooking } from '../../booking/stored-line.js';
import { readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { SupersededRows } from '../../ledger/stored-outcomes.js';
import type { Run } from '../../rules/run.js';
import { KeyError } from '../../storage/day-keys.js';
import { createOccurrenceIndex } from './line-index.js';

/** The bookings and references that the source of a run holds. */
export type SourceKeys = ReturnType<typeof createSourceKeys>;

export function createSourceKeys() {
  const bookings = createOccurrenceIndex();
  const references = createOccurrenceIndex();
  return {
    add(line: string): void {
      const booking = readBooking(line);
      bookings.findOrAdd(keyOfBooking(booking));
      const { bookingReferenceId: reference } = booking;
      if (reference !== undefined) references.findOrAdd(reference);
    },
    hasBooking: (key: string) => bookings.find(key) !== undefined,
    hasReference: (reference: string) => references.find(reference) !== undefined,
  };
}

/**
 * Finds which bookings of the day's other runs the source no longer holds, although it holds their reference, with another hotel or
 * stay; and which of those that an earlier collect did not find are there again. One without a reference is never superseded, and
 * one whose reference is gone stays as it was.
 */
export async function findSuperseded(ledger: ReadOnlyLedger, runs: readonly Run[], source: SourceKeys) {
  const found: SupersededRows[] = [];
  const gone = createOccurrenceIndex();
  for (const run of runs) {
    const before = await ledger.days.listSuperseded(run.id);
    try {
      for (const stream of batchStreams)
        for await (const { batch, lines } of readStoredBatches(ledger, run, stream)) {
          const known = new Set(before.find((of) => of.stream === stream && of.batch === batch)?.rows);
          /** Those that are superseded now, and those that were before and are there again. */
          const rows: { readonly gone: number[]; readonly found: number[] } = { gone: [], found: [] };
          for (const [row, line] of splitStoredLines(lines).entries()) {
            const booking = readBooking(line);
            const { bookingReferenceId: reference } = booking;
            const key = keyOfBooking(booking);
            const isKnown = known.has(row);
            if (source.hasBooking(key)) {
              if (isKnown) rows.found.push(row);
            } else if (isKnown || (reference !== undefined && source.hasReference(reference))) {
              if (!isKnown) rows.gone.push(row);
              gone.findOrAdd(key);
            }
          }
          const of = { runId: run.id, stream, batch };
          if (rows.gone.length > 0) found.push({ ...of, isFound: false, rows: rows.gone });
          if (rows.found.length > 0) found.push({ ...of, isFound: true, rows: rows.found });
        }
    } catch (error) {
      // Nobody can read the lines of a day whose key is gone.
      if (!(error instanceof KeyError)) throw error;
    }
  }
  return {
    rows: found,
    /** Whether a booking is superseded now, by this collect or an earlier one. */
    isSuperseded: (booking: Booking) => gone.find(keyOfBooking(booking)) !== undefined,
  };
}

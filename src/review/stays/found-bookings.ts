import type { Booking } from '../../booking/booking.js';
import { groupByBatch, takeStoredLines } from '../../ledger/batches.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { FoundBookings, StayRun } from '../../ledger/stays.js';
import type { BookingForm } from '../../ledger/step.js';
import { readBooking } from '../stored/stored-line.js';

/** Batches that are read at once. */
const batchesAtOnce = 16;

export interface FoundBooking {
  readonly form: BookingForm;
  readonly booking: Booking;
}

/** The bookings at these positions of a run, some batches at a time; each batch is read once. */
export async function* readFound(
  ledger: Ledger['stays'],
  run: StayRun,
  found: readonly FoundBookings[],
): AsyncGenerator<readonly FoundBooking[], void, undefined> {
  for (const { form, positions } of found) {
    const batches = [...groupByBatch(positions, run.batchSize)];
    for (let first = 0; first < batches.length; first += batchesAtOnce) {
      const some = batches.slice(first, first + batchesAtOnce);
      const lines = await ledger.readReadableBatches(
        run,
        form,
        some.map(([batch]) => batch),
      );
      yield some.flatMap(([batch, places]) => {
        const stored = lines.get(batch);
        if (!stored) return [];
        return takeStoredLines(stored, places).map((line) => ({ form, booking: readBooking(line, form) }));
      });
    }
  }
}

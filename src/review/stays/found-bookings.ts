import type { Booking } from '../../booking/booking.js';
import { findStayKey } from '../../booking/booking-keys.js';
import type { StayKeys } from '../collected.js';
import type { FoundBookings, StayIndex, StayRun } from '../stays.js';
import type { BookingForm } from '../step.js';
import { readBooking } from '../stored/stored-line.js';
import { groupByBatch, splitStoredLines, takeStoredLines } from '../stored-batches.js';

/** Batches that are read at once. */
const batchesAtOnce = 16;

export interface FoundBooking {
  readonly form: BookingForm;
  readonly booking: Booking;
}

/** The bookings at these positions of a run, some batches at a time; each batch is read once. */
export async function* readFound(
  ledger: Pick<StayIndex, 'readReadableBatches'>,
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

/** The keys by which the stays in a stored batch are found. */
export function findStayKeys(lines: Buffer, form: BookingForm): StayKeys {
  const keys = splitStoredLines(lines).map((line) => findStayKey(readBooking(line, form)));
  return {
    hotelHashes: keys.map(({ hotelHash }) => hotelHash),
    lastDays: keys.map(({ lastDay }) => lastDay),
  };
}

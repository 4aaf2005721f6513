import type { CollectedBatch } from '../ledger.js';
import type { BookingForm } from '../step.js';

/** Remembers which bookings were filled in from the local copy of the mappings, until their batch is stored. */
export function createFilledPlaces(batchSize: number) {
  const places = new Map<string, number[]>();
  const batchName = (form: BookingForm, number: number) => `${form} ${number}`;

  return {
    /** @param position among all bookings of that form, counted from 0 */
    note(form: BookingForm, position: number): void {
      const name = batchName(form, Math.floor(position / batchSize));
      const ofBatch = places.get(name) ?? [];
      ofBatch.push(position % batchSize);
      places.set(name, ofBatch);
    },
    /** Says it of the bookings of a batch, and forgets it. */
    tell(batch: CollectedBatch): CollectedBatch {
      const name = batchName(batch.form, batch.number);
      const ofBatch = places.get(name);
      if (!ofBatch) return batch;
      places.delete(name);
      return { ...batch, suspects: ofBatch.map((place) => ({ place, reason: 'filled-in' })) };
    },
  };
}

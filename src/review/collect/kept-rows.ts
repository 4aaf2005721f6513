import type { CollectedBatch } from '../../ledger/collecting.js';
import type { KeptRow } from '../../ledger/kept-columns.js';
import type { BookingForm } from '../../ledger/step.js';

/** Holds the kept columns of accepted bookings until their batch is stored. */
export function createKeptRows(batchSize: number) {
  const batches = new Map<string, { readonly labels: readonly string[]; readonly rows: KeptRow[] }>();
  const batchName = (form: BookingForm, number: number) => `${form} ${number}`;

  return {
    /** @param position index among all bookings of that form */
    note(form: BookingForm, position: number, labels: readonly string[], row: KeptRow): void {
      if (!row) return;
      const name = batchName(form, Math.floor(position / batchSize));
      const batch = batches.get(name) ?? { labels, rows: [] };
      batch.rows[position % batchSize] = row;
      batches.set(name, batch);
    },
    /** Adds its columns to a batch and forgets them. */
    tell(batch: CollectedBatch): CollectedBatch {
      const name = batchName(batch.form, batch.number);
      const found = batches.get(name);
      if (!found) return batch;
      batches.delete(name);
      const rows = Array.from(batch.referenceHashes, (_, place) => found.rows[place] ?? null);
      return { ...batch, kept: { labels: found.labels, rows } };
    },
  };
}

import { hashReference } from '../../booking/reference-hash.js';
import type { BookingForm } from '../../review/step.js';
import { findInPage, type ReferencePage } from '../reference-index.js';
import type { Database } from './database.js';

/** Entries per page: 32 KB, so that a look-up reads little and a day of a million bookings has few pages. */
export const pageEntries = 4096;

/** Writes the pages. Call it inside a transaction. */
export function storeReferences(
  database: Database,
  run: number,
  form: BookingForm,
  pages: Iterable<ReferencePage>,
): void {
  for (const { page, firstHash, lastHash, entries } of pages) {
    database.run(
      `INSERT INTO reference_pages (run, form, first_hash, last_hash, page, entries) VALUES (?, ?, ?, ?, ?, ?)`,
      run,
      form,
      firstHash,
      lastHash,
      page,
      entries,
    );
  }
}

/** Positions of bookings that may have that reference, lowest first. */
export function findPositions(
  database: Database,
  run: number,
  form: BookingForm,
  reference: string,
): number[] {
  const hash = hashReference(reference);
  const pages = database.all(
    `SELECT entries FROM reference_pages WHERE run = ? AND form = ? AND first_hash <= ? AND last_hash >= ?`,
    run,
    form,
    hash,
    hash,
  );
  return pages.flatMap(({ entries }) => findInPage(entries as Buffer, hash)).sort((a, b) => a - b);
}

import { hashReference } from '../../booking/reference-hash.js';
import type { BookingForm } from '../../review/step.js';
import { findInPage, type ReferencePage } from '../reference-index.js';
import type { CopiedRow, Session } from './session.js';

/** Writes the pages of a run's reference index. Call it inside a transaction. */
export async function storeReferences(
  session: Session,
  run: number,
  form: BookingForm,
  pages: Iterable<ReferencePage>,
): Promise<void> {
  await session.copy(
    'hotel_review.reference_pages (run, form, first_hash, last_hash, page, entries)',
    toRows(run, form, pages),
  );
}

function* toRows(run: number, form: BookingForm, pages: Iterable<ReferencePage>): Generator<CopiedRow> {
  for (const { page, firstHash, lastHash, entries } of pages) {
    yield [
      { bigint: run },
      { text: form },
      { bigint: firstHash },
      { bigint: lastHash },
      { integer: page },
      { bytes: entries },
    ];
  }
}

/** Positions of bookings that may have a reference, in one run and form. */
export interface Candidates {
  readonly run: number;
  readonly form: BookingForm;
  readonly batchSize: number;
  /** Lowest first. */
  readonly positions: readonly number[];
}

/**
 * Searches all runs, newest first. A run's pages are sorted; those that may contain the hash start with the last page
 * whose first hash is smaller. Without that bound every page before it would be read.
 */
export async function findCandidates(session: Session, reference: string): Promise<Candidates[]> {
  const hash = hashReference(reference);
  const rows = await session.rows(
    `SELECT run, form, batch_size, string_agg(entries, '' ORDER BY page) AS entries
     FROM hotel_review.runs CROSS JOIN (VALUES ('body'), ('file')) AS forms (of_form) CROSS JOIN LATERAL (
       SELECT * FROM hotel_review.reference_pages
       WHERE run = number AND form = of_form AND first_hash <= $1 AND last_hash >= $1 AND first_hash >= coalesce(
         (SELECT max(before.first_hash) FROM hotel_review.reference_pages AS before
            WHERE before.run = number AND before.form = of_form AND before.first_hash < $1), $1)
     ) AS pages
     WHERE pruned_at IS NULL
     GROUP BY run, form, batch_size ORDER BY run DESC, form`,
    hash,
  );
  return rows.map(({ run, form, batch_size, entries }) => ({
    run: Number(run),
    form: form as BookingForm,
    batchSize: Number(batch_size),
    positions: findInPage(entries as Buffer, hash).sort((a, b) => a - b),
  }));
}

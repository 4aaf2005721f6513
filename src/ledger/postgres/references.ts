import type { BookingForm } from '../../review/step.js';
import { findInPage, hashReference, type ReferencePage } from '../reference-index.js';
import type { CopiedRow } from './binary-copy.js';
import type { Session } from './session.js';

/** Writes the pages of a run's look-up. Done inside a transaction. */
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

/** Places of bookings that may carry a reference, in one run and form. */
export interface Candidates {
  readonly run: number;
  readonly form: BookingForm;
  readonly batchSize: number;
  /** Lowest first. */
  readonly positions: readonly number[];
}

/** Looks through all runs, the newest first. */
export async function findCandidates(session: Session, reference: string): Promise<Candidates[]> {
  const hash = hashReference(reference);
  const rows = await session.rows(
    `SELECT run, form, batch_size, string_agg(entries, '' ORDER BY page) AS entries
     FROM hotel_review.reference_pages JOIN hotel_review.runs ON run = number
     WHERE form IN ('body', 'file') AND first_hash <= $1 AND last_hash >= $1 AND pruned_at IS NULL
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

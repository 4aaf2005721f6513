import type { CollectedBatch, DeliveredCursor, DeliveredLines } from '../../review/collected.js';
import { sliceLines } from '../../review/lines/line-buffer.js';
import type { BookingForm } from '../../review/step.js';
import { noSuchRun, runNumber } from './runs.js';
import type { Session } from './session.js';

export async function storeBatches(
  session: Session,
  run: number,
  batches: readonly CollectedBatch[],
): Promise<void> {
  await session.copy(
    'hotel_review.batches (run, form, batch, bookings, lines)',
    batches.map(({ form, number, referenceHashes, lines }) => [
      { bigint: run },
      { text: form },
      { integer: number },
      { integer: referenceHashes.length },
      { bytes: lines },
    ]),
  );
}

/** Fetches the bytes as text: the server would write bytes in hexadecimal, twice as long. */
export async function readBatch(
  session: Session,
  runId: string,
  form: BookingForm,
  batch: number,
): Promise<Buffer> {
  const row = await session.row(
    `SELECT convert_from(lines, 'UTF8') AS lines
     FROM hotel_review.runs LEFT JOIN hotel_review.batches ON run = number AND form = $2 AND batch = $3
     WHERE id = $1`,
    runId,
    form,
    batch,
  );
  if (!row) throw noSuchRun(runId);
  if (row.lines === null) throw noSuchBatch(form, batch);
  return Buffer.from(String(row.lines));
}

/** The lines of a batch of a run that is known to exist. */
export async function readLines(
  session: Session,
  run: number,
  form: BookingForm,
  batch: number,
): Promise<string[]> {
  const row = await session.row(
    'SELECT lines FROM hotel_review.batches WHERE run = $1 AND form = $2 AND batch = $3',
    run,
    form,
    batch,
  );
  if (!row) throw noSuchBatch(form, batch);
  return (row.lines as Buffer).toString().split('\n');
}

export async function measureBatches(
  session: Session,
  runId: string,
  form: BookingForm,
): Promise<{ batches: number; bookings: number }> {
  const row = await session.row(
    `SELECT count(batch) AS batches, coalesce(sum(bookings), 0) AS bookings
     FROM hotel_review.runs LEFT JOIN hotel_review.batches ON run = number AND form = $2 WHERE id = $1 GROUP BY id`,
    runId,
    form,
  );
  if (!row) throw noSuchRun(runId);
  return { batches: Number(row.batches), bookings: Number(row.bookings) };
}

function noSuchBatch(form: BookingForm, batch: number): RangeError {
  return new RangeError(`no ${form} batch ${batch} in the ledger`);
}

/**
 * What other runs of the day have delivered: the slices of batches that are done, and every batch of a file whose
 * by-file call was accepted. The cursor is a position in that list, by run, form, batch and first booking.
 *
 * Call it in one snapshot.
 */
export async function nextDelivered(
  session: Session,
  runId: string,
  after: DeliveredCursor | undefined,
): Promise<DeliveredLines | undefined> {
  const own = await runNumber(session, runId);
  const [afterRun = '0', afterForm = '', afterBatch = '-1', afterFirst = '-1'] = after?.split(' ') ?? [];
  const row = await session.row(
    `WITH others AS (
       SELECT number FROM hotel_review.runs
       WHERE day = (SELECT day FROM hotel_review.runs WHERE number = $1) AND number <> $1 AND number >= $2
         AND names_blanked_at IS NULL AND pruned_at IS NULL
     ), slices AS (
       SELECT number, form, batch, first, steps.bookings
       FROM others JOIN hotel_review.steps ON steps.run = number
       WHERE form = 'body' AND kind = 'batch' AND state = 'done'
       UNION ALL
       SELECT number, form, batch, 0, batches.bookings
       FROM others JOIN hotel_review.batches ON batches.run = number
       WHERE form = 'file' AND EXISTS (
         SELECT 1 FROM hotel_review.steps WHERE steps.run = number AND name = 'trigger' AND state = 'done'
       )
     ), next AS (
       SELECT * FROM slices WHERE (number, form, batch, first) > ($2, $3, $4, $5)
       ORDER BY number, form, batch, first LIMIT 1
     )
     SELECT next.*, lines FROM next
     JOIN hotel_review.batches ON batches.run = number AND batches.form = next.form AND batches.batch = next.batch`,
    own,
    Number(afterRun),
    afterForm,
    Number(afterBatch),
    Number(afterFirst),
  );
  if (!row) return undefined;
  const slice = {
    form: row.form as BookingForm,
    batch: Number(row.batch),
    first: Number(row.first),
    bookings: Number(row.bookings),
  };
  return {
    cursor: [row.number, slice.form, slice.batch, slice.first].join(' ') as DeliveredCursor,
    form: slice.form,
    lines: sliceLines(row.lines as Buffer, slice),
  };
}

import type { CollectedBatch } from '../../review/collected.js';
import type { BookingForm } from '../../review/step.js';
import { noSuchRun } from './runs.js';
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

/** The bytes come as the text that they are: as bytes the server would write them in hexadecimal, twice as long. */
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

/** The lines of a batch, of a run that is known to exist. */
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

import { KeyError } from '../keys/key-error.js';
import type { BatchRange } from '../review/ledger.js';
import { type BookingForm, bookingForms } from '../review/step.js';
import { takeStoredLines } from '../review/stored-batches.js';
import { all, type Dialect, one, type Query } from './query.js';
import { noSuchRun } from './runs.js';
import { isGone, placeOfBatch } from './sealing.js';

export function* readBatch(dialect: Dialect, runId: string, form: BookingForm, batch: number): Query<Buffer> {
  const [lines] = yield* readBatches(dialect, runId, form, { from: batch, to: batch + 1 });
  if (!lines) throw noSuchBatch(form, batch);
  return lines;
}

/** See `BatchReader`. */
export function* readBatches(
  { schema, lines, sealing }: Dialect,
  runId: string,
  form: BookingForm,
  { from, to }: BatchRange,
): Query<readonly Buffer[]> {
  const rows = yield* all(
    `SELECT number, batch, ${lines} AS lines
     FROM ${schema}runs LEFT JOIN ${schema}batches ON run = number AND form = ? AND batch >= ? AND batch < ?
     WHERE id = ? ORDER BY batch`,
    form,
    from,
    to,
    runId,
  );
  const [run] = rows;
  if (!run) throw noSuchRun(runId);
  return Array.from({ length: to - from }, (_, index) => {
    const batch = from + index;
    const row = rows[index];
    if (!row || row.lines === null || Number(row.batch) !== batch) throw noSuchBatch(form, batch);
    return sealing.openLines(row.lines, placeOfBatch(Number(run.number), form, batch));
  });
}

/** All lines of a batch of a run that is known to exist. */
export function* readLines(dialect: Dialect, run: number, form: BookingForm, batch: number): Query<string[]> {
  return (yield* readOpened(dialect, run, form, batch)).toString().split('\n');
}

/** The lines of such a batch at these places, in ascending order. */
export function* readLinesAt(
  dialect: Dialect,
  run: number,
  form: BookingForm,
  batch: number,
  places: readonly number[],
): Query<string[]> {
  return takeStoredLines(yield* readOpened(dialect, run, form, batch), places);
}

function* readOpened(
  { schema, lines, sealing }: Dialect,
  run: number,
  form: BookingForm,
  batch: number,
): Query<Buffer> {
  const row = yield* one(
    `SELECT ${lines} AS lines FROM ${schema}batches WHERE run = ? AND form = ? AND batch = ?`,
    run,
    form,
    batch,
  );
  if (!row) throw noSuchBatch(form, batch);
  return sealing.openLines(row.lines, placeOfBatch(run, form, batch));
}

export function* measureBatches(
  { schema }: Dialect,
  runId: string,
  form: BookingForm,
): Query<{ batches: number; bookings: number }> {
  const row = yield* one(
    `SELECT count(batch) AS batches, coalesce(sum(bookings), 0) AS bookings
     FROM ${schema}runs LEFT JOIN ${schema}batches ON run = number AND form = ? WHERE id = ? GROUP BY id`,
    form,
    runId,
  );
  if (!row) throw noSuchRun(runId);
  return { batches: Number(row.batches), bookings: Number(row.bookings) };
}

/** See `BatchSampler`. Batches whose key is gone hold no names that anybody can read. */
export function* sampleBatches(
  { schema, lines, sealing }: Dialect,
  runId: string,
): Query<{ readonly form: BookingForm; readonly lines: Buffer }[]> {
  const samples: { form: BookingForm; lines: Buffer }[] = [];
  for (const form of bookingForms)
    for (const order of ['', 'DESC']) {
      const row = yield* one(
        `SELECT number, batch, ${lines} AS lines FROM ${schema}runs JOIN ${schema}batches ON run = number AND form = ?
         WHERE id = ? ORDER BY batch ${order} LIMIT 1`,
        form,
        runId,
      );
      if (!row) continue;
      try {
        const place = placeOfBatch(Number(row.number), form, Number(row.batch));
        samples.push({ form, lines: sealing.openLines(row.lines, place) });
      } catch (error) {
        if (!(error instanceof KeyError && isGone(error))) throw error;
      }
    }
  return samples;
}

function noSuchBatch(form: BookingForm, batch: number): RangeError {
  return new RangeError(`no ${form} batch ${batch} in the ledger`);
}

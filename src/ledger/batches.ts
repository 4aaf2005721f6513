import { freeMemory } from '../async/free-memory.js';
import { KeyError } from '../keys/key-error.js';
import type { BatchRange } from '../review/ledger.js';
import { type BookingForm, bookingForms } from '../review/step.js';
import { takeStoredLines } from '../review/stored-batches.js';
import { all, database, one, type Query } from './query.js';
import { noSuchRun } from './runs.js';
import { isGone, placeOfBatch, type Sealing } from './sealing.js';

export function* readBatch(runId: string, form: BookingForm, batch: number): Query<Buffer> {
  const [lines] = yield* readBatches(runId, form, { from: batch, to: batch + 1 });
  if (!lines) throw noSuchBatch(form, batch);
  return lines;
}

/** See `BatchReader`. */
export function* readBatches(
  runId: string,
  form: BookingForm,
  { from, to }: BatchRange,
): Query<readonly Buffer[]> {
  const { lines, sealing } = yield* database();
  const rows = yield* all(
    `SELECT number, batch, ${lines} AS lines
     FROM runs LEFT JOIN batches ON run = number AND form = ? AND batch >= ? AND batch < ?
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
    return openLines(sealing, row.lines, placeOfBatch(Number(run.number), form, batch));
  });
}

/** All lines of a batch of a run that is known to exist. */
export function* readLines(run: number, form: BookingForm, batch: number): Query<string[]> {
  return (yield* readOpened(run, form, batch)).toString().split('\n');
}

/** The lines of such a batch at these places, in ascending order. */
export function* readLinesAt(
  run: number,
  form: BookingForm,
  batch: number,
  places: readonly number[],
): Query<string[]> {
  return takeStoredLines(yield* readOpened(run, form, batch), places);
}

function* readOpened(run: number, form: BookingForm, batch: number): Query<Buffer> {
  const { lines, sealing } = yield* database();
  const row = yield* one(
    `SELECT ${lines} AS lines FROM batches WHERE run = ? AND form = ? AND batch = ?`,
    run,
    form,
    batch,
  );
  if (!row) throw noSuchBatch(form, batch);
  return openLines(sealing, row.lines, placeOfBatch(run, form, batch));
}

/** Frees the encrypted bytes once they are decrypted. */
function openLines(sealing: Sealing, stored: unknown, place: string): Buffer {
  const opened = sealing.openLines(stored, place);
  if (stored instanceof Uint8Array && stored !== opened) freeMemory(stored);
  return opened;
}

export function* measureBatches(
  runId: string,
  form: BookingForm,
): Query<{ batches: number; bookings: number }> {
  const row = yield* one(
    `SELECT count(batch) AS batches, coalesce(sum(bookings), 0) AS bookings
     FROM runs LEFT JOIN batches ON run = number AND form = ? WHERE id = ? GROUP BY id`,
    form,
    runId,
  );
  if (!row) throw noSuchRun(runId);
  return { batches: Number(row.batches), bookings: Number(row.bookings) };
}

/** See `BatchSampler`. Batches whose key is gone hold no names that anybody can read. */
export function* sampleBatches(
  runId: string,
): Query<{ readonly form: BookingForm; readonly lines: Buffer }[]> {
  const { lines, sealing } = yield* database();
  const samples: { form: BookingForm; lines: Buffer }[] = [];
  for (const form of bookingForms)
    for (const order of ['', 'DESC']) {
      const row = yield* one(
        `SELECT number, batch, ${lines} AS lines FROM runs JOIN batches ON run = number AND form = ?
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

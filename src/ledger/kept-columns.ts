import type { KeptValues } from '../booking/kept-values.js';
import { hashReference } from '../booking/reference-hash.js';
import { KeyError } from '../keys/key-error.js';
import type { CollectedBatch } from '../review/collected.js';
import { eraseKeptAt, type KeptColumns, keptAt } from '../review/kept-columns.js';
import type { StayRun } from '../review/stays.js';
import type { BookingForm } from '../review/step.js';
import { readBooking } from '../review/stored/stored-line.js';
import { groupByBatch } from '../review/stored-batches.js';
import { readLinesAt } from './batches.js';
import { findBookings } from './hash-pages.js';
import { all, change, type Dialect, insert, one, type Query, type Store } from './query.js';
import { runNumber } from './runs.js';
import { isGone, placeOfKeptColumns } from './sealing.js';
import { referencePages } from './stays.js';

/**
 * Stores the kept columns beside the lines of their batches, sealed like them; does nothing for a batch without any.
 */
export function* storeKeptColumns(
  { sealing }: Dialect,
  { run, day }: { readonly run: number; readonly day: string },
  batches: readonly CollectedBatch[],
): Query<void> {
  const rows = batches.flatMap(({ form, number, kept }) =>
    kept
      ? [[run, form, number, sealing.sealLines(day, write(kept), placeOfKeptColumns(run, form, number))]]
      : [],
  );
  if (rows.length === 0) return;
  yield* insert('kept_columns', { run: 'bigint', form: 'text', batch: 'integer', kept: 'bytes' }, rows);
}

const write = (columns: KeptColumns): Buffer => Buffer.from(JSON.stringify(columns));

/** The kept columns of a batch of a run that is known to exist. */
export function* readKeptOfBatch(
  { schema, sealing }: Dialect,
  run: number,
  form: BookingForm,
  batch: number,
): Query<KeptColumns | undefined> {
  const row = yield* one(
    `SELECT kept FROM ${schema}kept_columns WHERE run = ? AND form = ? AND batch = ?`,
    run,
    form,
    batch,
  );
  const stored = row?.kept as Buffer | undefined;
  // An empty one was blanked.
  if (!stored || stored.length === 0) return undefined;
  const opened = sealing.openLines(stored, placeOfKeptColumns(run, form, batch));
  return JSON.parse(opened.toString()) as KeptColumns;
}

/** See `KeptColumnReader`. */
export function* readKeptColumns(
  dialect: Dialect,
  runId: string,
  form: BookingForm,
  batch: number,
): Query<KeptColumns | undefined> {
  return yield* readKeptOfBatch(dialect, yield* runNumber(dialect, runId), form, batch);
}

/** See `KeptColumnReader`. Reads one run or batch at a time, so that other work can run in between. */
export async function findKeptValues(
  { dialect, read }: Store,
  references: readonly string[],
): Promise<ReadonlyMap<string, KeptValues>> {
  const found = new Map<string, KeptValues>();
  const missing = new Map(references.map((reference) => [reference, hashReference(reference)]));
  let hashes = new Uint32Array();
  for (const run of missing.size > 0 ? await read(() => listKeepingRuns(dialect)) : []) {
    // Over a long period, most runs have none of them.
    if (hashes.length !== missing.size) hashes = Uint32Array.from(new Set(missing.values())).sort();
    for (const { form, positions } of await read(() => findBookings(dialect, run, hashes, referencePages)))
      for (const [batch, places] of groupByBatch(positions, run.batchSize))
        for (const [reference, kept] of await read(() => keptOf(dialect, run.number, form, batch, places)))
          if (missing.delete(reference)) found.set(reference, kept);
    if (missing.size === 0) break;
  }
  return found;
}

type KeepingRun = Pick<StayRun, 'number' | 'delivery' | 'batchSize'>;

/** Runs whose kept columns are not blanked, newest first. */
function* listKeepingRuns({ schema }: Dialect): Query<KeepingRun[]> {
  const rows = yield* all(
    `SELECT number, delivery, batch_size FROM ${schema}runs
     WHERE EXISTS (SELECT 1 FROM ${schema}kept_columns WHERE run = number AND length(kept) > 0) ORDER BY number DESC`,
  );
  return rows.map((row) => ({
    number: Number(row.number),
    delivery: String(row.delivery) as KeepingRun['delivery'],
    batchSize: Number(row.batch_size),
  }));
}

/** Compares references: a hash alone is no proof. None if the batch can no longer be decrypted. */
function* keptOf(
  dialect: Dialect,
  run: number,
  form: BookingForm,
  batch: number,
  places: readonly number[],
): Query<[reference: string, kept: KeptValues][]> {
  try {
    const columns = yield* readKeptOfBatch(dialect, run, form, batch);
    const keeping = places.filter((place) => columns?.rows[place]);
    if (keeping.length === 0) return [];
    const lines = yield* readLinesAt(dialect, run, form, batch, keeping);
    return keeping.flatMap((place, index) => {
      const kept = keptAt(columns, place);
      const reference = readBooking(lines[index] ?? '', form).bookingReferenceId;
      return kept && reference !== undefined ? [[reference, kept]] : [];
    });
  } catch (error) {
    if (error instanceof KeyError && isGone(error)) return [];
    throw error;
  }
}

/** Erases the kept values of the bookings at these places of a batch. */
export function* eraseKeptOfBatch(
  dialect: Dialect,
  day: string,
  [run, form, batch]: readonly [run: number, form: BookingForm, batch: number],
  places: readonly number[],
): Query<void> {
  const { schema, sealing, lock } = dialect;
  const isBatch = 'run = ? AND form = ? AND batch = ?';
  const row = yield* one(
    `SELECT kept FROM ${schema}kept_columns WHERE ${isBatch} ${lock}`,
    ...[run, form, batch],
  );
  const stored = row?.kept as Buffer | undefined;
  const erased = eraseKeptAt(yield* readKeptOfBatch(dialect, run, form, batch), places);
  if (!stored || !erased) return;
  const kept = sealing.sealLike(stored, day, write(erased), placeOfKeptColumns(run, form, batch));
  yield* change(`UPDATE ${schema}kept_columns SET kept = ? WHERE ${isBatch}`, kept, run, form, batch);
}

export function* blankKeptColumns({ schema }: Dialect, run: number): Query<void> {
  yield* change(
    `UPDATE ${schema}kept_columns SET kept = ? WHERE run = ? AND length(kept) > 0`,
    Buffer.alloc(0),
    run,
  );
}

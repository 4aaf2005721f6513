import { hashReference } from '../booking/booking.js';
import type { KeptValues } from '../booking/kept-values.js';
import type { BookingForm } from '../booking/line-form.js';
import { readBooking } from '../booking/stored-line.js';
import { KeyError } from '../storage/day-keys.js';
import { groupByBatch, readLinesAt } from './batches.js';
import { all, change, database, one, type Query, type Store } from './query.js';
import { runNumber } from './runs.js';
import { isGone, placeOfKeptColumns } from './sealing.js';
import { findBookings, referencePages, type StayRun } from './stays.js';
import * as t from './table.js';

/** Columns of the source that are kept beside the lines of a batch, but not sent. */
export const keptColumns = t.table(
  'kept_columns',
  { run: t.numberOf('runs'), form: t.text<BookingForm>(), batch: t.integer, kept: t.bytes },
  { key: 'run, form, batch' },
);

/** As they are stored, but not sealed. */
export const writeKeptColumns = (columns: KeptColumns): Buffer => Buffer.from(JSON.stringify(columns));

/** The kept columns of a batch of a run that is known to exist. */
export function* readKeptOfBatch(
  run: number,
  form: BookingForm,
  batch: number,
): Query<KeptColumns | undefined> {
  const { sealing } = yield* database();
  const row = yield* one(
    `SELECT kept FROM kept_columns WHERE run = ? AND form = ? AND batch = ?`,
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

/** The kept columns of a stored batch; undefined if there are none, or no longer. */
export function* readKeptColumns(
  runId: string,
  form: BookingForm,
  batch: number,
): Query<KeptColumns | undefined> {
  return yield* readKeptOfBatch(yield* runNumber(runId), form, batch);
}

/** Reads one run or batch at a time, so that other work can run in between. */
export async function findKeptValues(
  { read }: Store,
  references: readonly string[],
): Promise<ReadonlyMap<string, KeptValues>> {
  const found = new Map<string, KeptValues>();
  const missing = new Map(references.map((reference) => [reference, hashReference(reference)]));
  let hashes = new Uint32Array();
  for (const run of missing.size > 0 ? await read(() => listKeepingRuns()) : []) {
    // Over a long period, most runs have none of them.
    if (hashes.length !== missing.size) hashes = Uint32Array.from(new Set(missing.values())).sort();
    for (const { form, positions } of await read(() => findBookings(run, hashes, referencePages)))
      for (const [batch, places] of groupByBatch(positions, run.batchSize))
        for (const [reference, kept] of await read(() => keptOf(run.number, form, batch, places)))
          if (missing.delete(reference)) found.set(reference, kept);
    if (missing.size === 0) break;
  }
  return found;
}

type KeepingRun = Pick<StayRun, 'number' | 'delivery' | 'batchSize'>;

/** Runs whose kept columns are not blanked, newest first. */
function* listKeepingRuns(): Query<KeepingRun[]> {
  const rows = yield* all(
    `SELECT number, delivery, batch_size FROM runs
     WHERE EXISTS (SELECT 1 FROM kept_columns WHERE run = number AND length(kept) > 0) ORDER BY number DESC`,
  );
  return rows.map((row) => ({
    number: Number(row.number),
    delivery: String(row.delivery) as KeepingRun['delivery'],
    batchSize: Number(row.batch_size),
  }));
}

/** Compares references: a hash alone is no proof. None if the batch can no longer be decrypted. */
function* keptOf(
  run: number,
  form: BookingForm,
  batch: number,
  places: readonly number[],
): Query<[reference: string, kept: KeptValues][]> {
  try {
    const columns = yield* readKeptOfBatch(run, form, batch);
    const keeping = places.filter((place) => columns?.rows[place]);
    if (keeping.length === 0) return [];
    const lines = yield* readLinesAt(run, form, batch, keeping);
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
  day: string,
  [run, form, batch]: readonly [run: number, form: BookingForm, batch: number],
  places: readonly number[],
): Query<void> {
  const { sealing, lock } = yield* database();
  const isBatch = 'run = ? AND form = ? AND batch = ?';
  const row = yield* one(`SELECT kept FROM kept_columns WHERE ${isBatch} ${lock}`, ...[run, form, batch]);
  const stored = row?.kept as Buffer | undefined;
  const erased = eraseKeptAt(yield* readKeptOfBatch(run, form, batch), places);
  if (!stored || !erased) return;
  const kept = sealing.sealLike(stored, day, writeKeptColumns(erased), placeOfKeptColumns(run, form, batch));
  yield* change(`UPDATE kept_columns SET kept = ? WHERE ${isBatch}`, kept, run, form, batch);
}

export function* blankKeptColumns(run: number): Query<void> {
  yield* change(`UPDATE kept_columns SET kept = ? WHERE run = ? AND length(kept) > 0`, Buffer.alloc(0), run);
}

/**
 * The kept columns (`source.keep`) of the lines of a chunk or of a stored batch. Plain data, to be sent between
 * threads.
 */
export interface KeptColumns {
  readonly labels: readonly string[];
  /** By the line's place: its values in the order of the labels, null for a missing one; null if none is kept. */
  readonly rows: readonly KeptRow[];
}

export type KeptRow = readonly (string | null)[] | null;

/** The values of the booking at that place; undefined if it has none. */
export function keptAt(columns: KeptColumns | undefined, place: number): KeptValues | undefined {
  const row = columns?.rows[place];
  if (!columns || !row) return undefined;
  const values = columns.labels.flatMap((label, index) => {
    const value = row[index];
    return typeof value === 'string' ? [[label, value] as const] : [];
  });
  return values.length > 0 ? Object.fromEntries(values) : undefined;
}

/** The same columns without the values of the bookings at these places; undefined if those have none. */
export function eraseKeptAt(
  columns: KeptColumns | undefined,
  places: readonly number[],
): KeptColumns | undefined {
  if (!columns || places.every((place) => !columns.rows[place])) return undefined;
  return { ...columns, rows: columns.rows.map((row, place) => (places.includes(place) ? null : row)) };
}

import type { KeptValues } from '../booking/kept-values.js';
import type { CollectedBatch } from '../review/collected.js';
import { eraseKeptAt, type KeptColumns, keptAt } from '../review/kept-columns.js';
import type { BookingForm } from '../review/step.js';
import { readLines } from './batches.js';
import { change, type Dialect, insert, one, type Query } from './query.js';
import { runNumber } from './runs.js';
import { placeOfKeptColumns } from './sealing.js';

/** Stores the kept columns beside the lines of their batches, sealed like them; nothing for a batch without any. */
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

/** See `KeptColumnReader`. */
export function* findKeptValues(
  dialect: Dialect,
  references: readonly string[],
  runId: string | undefined,
  carries: (line: string, form: BookingForm, reference: string) => boolean,
): Query<ReadonlyMap<string, KeptValues>> {
  const found = new Map<string, KeptValues>();
  const run = runId === undefined ? undefined : yield* runNumber(dialect, runId);
  // Most ledgers keep no columns.
  const any = yield* one(`SELECT 1 AS found FROM ${dialect.schema}kept_columns LIMIT 1`);
  if (!any) return found;
  for (const reference of references) {
    const kept = yield* findKept(dialect, reference, run, (line, form) => carries(line, form, reference));
    if (kept) found.set(reference, kept);
  }
  return found;
}

function* findKept(
  dialect: Dialect,
  reference: string,
  run: number | undefined,
  carries: (line: string, form: BookingForm) => boolean,
): Query<KeptValues | undefined> {
  for (const candidates of yield* dialect.findCandidates(reference)) {
    const { form, batchSize, positions } = candidates;
    if (run !== undefined && candidates.run !== run) continue;
    for (const position of positions) {
      const [batch, place] = [Math.floor(position / batchSize), position % batchSize];
      const kept = keptAt(yield* readKeptOfBatch(dialect, candidates.run, form, batch), place);
      if (!kept) continue;
      const line = (yield* readLines(dialect, candidates.run, form, batch))[place];
      if (line !== undefined && carries(line, form)) return kept;
    }
  }
  return undefined;
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

/** The rows stay, so that what SQLite leaves of their values can be found and overwritten. */
export function* blankKeptColumns({ schema }: Dialect, run: number): Query<void> {
  yield* change(
    `UPDATE ${schema}kept_columns SET kept = ? WHERE run = ? AND length(kept) > 0`,
    Buffer.alloc(0),
    run,
  );
}

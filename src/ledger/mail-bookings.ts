import { KeyError } from '../keys/key-error.js';
import type { StoredBooking } from '../verdict-mails/mail-log.js';
import { groupByBatch, readLinesAt } from './batches.js';
import { findBookings as findPositions } from './hash-pages.js';
import { all, type Query, type Store } from './query.js';
import type { DeliveryKind } from './run.js';
import { isGone } from './sealing.js';
import { referencePages } from './stays.js';
import type { BookingForm } from './step.js';
import { readJson } from './stored-values.js';

/* The bookings that a verdict e-mail may name, and those that it names. */

export interface BatchOfRun {
  readonly run: Pick<RecentRun, 'number' | 'id' | 'day'>;
  readonly form: BookingForm;
  readonly batch: number;
}

/** The bookings at these places of a batch, in ascending order; none if it can no longer be decrypted. */
export function* readPlaces(
  { run: { number, id, day }, form, batch }: BatchOfRun,
  places: readonly number[],
): Query<StoredBooking[]> {
  try {
    const lines = yield* readLinesAt(number, form, batch, places);
    return places.map((place, index) => ({ runId: id, day, form, batch, place, line: lines[index] ?? '' }));
  } catch (error) {
    if (error instanceof KeyError && isGone(error)) return [];
    throw error;
  }
}

/** Reads one run or batch at a time, so that other work can run in between. */
export async function* findBookings(
  { dialect, read }: Store,
  since: number,
  hashes: Uint32Array,
): AsyncGenerator<readonly StoredBooking[]> {
  for (const run of await read(() => listRecentRuns(since)))
    for (const { form, positions } of await read(() => findPositions(run, hashes, referencePages)))
      for (const [batch, places] of groupByBatch(positions, run.batchSize))
        yield await read(() => readPlaces({ run, form, batch }, places));
}

interface RecentRun {
  readonly number: number;
  readonly id: string;
  readonly day: string;
  readonly batchSize: number;
  readonly delivery: DeliveryKind;
}

function* listRecentRuns(since: number): Query<RecentRun[]> {
  const rows = yield* all(
    `SELECT number, id, day, delivery, batch_size FROM runs
     WHERE batch_size IS NOT NULL AND pruned_at IS NULL AND (finished_at IS NULL OR finished_at >= ?) ORDER BY number DESC`,
    since,
  );
  return rows.map((row) => ({
    number: Number(row.number),
    id: String(row.id),
    day: String(row.day),
    batchSize: Number(row.batch_size),
    delivery: String(row.delivery) as DeliveryKind,
  }));
}

export function* listProviders(since: number): Query<string[]> {
  const rows = yield* all(
    `SELECT providers FROM runs WHERE providers IS NOT NULL AND (finished_at IS NULL OR finished_at >= ?)`,
    since,
  );
  const names = rows.flatMap(({ providers }) =>
    Object.keys(readJson<Record<string, number>>(providers) ?? {}),
  );
  return [...new Set(names)];
}

import { countDays } from '../booking/booking-keys.js';
import { KeyError } from '../keys/key-error.js';
import { findBookings, type HashPages } from './hash-pages.js';
import type { ProviderHotel } from './mappings.js';
import { all, bind, change, database, insert, type Query, type Store } from './query.js';
import type { DeliveryKind } from './run.js';
import { isGone, placeOfBatch } from './sealing.js';
import { readStayWords, removeFromStayPage, type StayPage, toStoredDay } from './stay-index.js';
import type { BookingForm } from './step.js';

export function createStays(store: Store) {
  return bind(store.read, { listStayRuns, findStays, findReferences, readReadableBatches });
}

/** Bookings whose references may have one of these hashes, in ascending order. */
function findReferences(run: StayRun, hashes: Uint32Array): Query<FoundBookings[]> {
  return findBookings(run, hashes, referencePages);
}

/** The pages of the references. */
export const referencePages: HashPages = { table: 'reference_pages', toPositions: (positions) => positions };

function* listStayRuns(): Query<StayRun[]> {
  const rows = yield* all(
    `SELECT number, id, day, delivery, tops_up, batch_size FROM runs
     WHERE collected_at IS NOT NULL AND pruned_at IS NULL ORDER BY day DESC, number DESC`,
  );
  return rows.map((row) => ({
    runId: String(row.id),
    number: Number(row.number),
    day: String(row.day),
    delivery: String(row.delivery) as StayRun['delivery'],
    topsUp: Number(row.tops_up) === 1,
    batchSize: Number(row.batch_size),
  }));
}

function findStays(run: StayRun, hashes: Uint32Array, from: string): Query<FoundBookings[]> {
  const firstDay = toStoredDay(countDays(from), countDays(run.day));
  return findBookings(run, hashes, {
    table: 'stay_pages',
    only: { sql: 'latest_day >= ?', values: [firstDay] },
    toPositions: (words, page) => readStayWords(words, Number(page.first_position), firstDay),
  });
}

function* readReadableBatches(
  { number }: StayRun,
  form: BookingForm,
  batches: readonly number[],
): Query<Map<number, Buffer>> {
  const { lines, sealing, isListed } = yield* database();
  const listed = isListed('batch', batches);
  const rows = yield* all(
    `SELECT batch, ${lines} AS lines FROM batches WHERE run = ? AND form = ? AND ${listed.sql}`,
    number,
    form,
    ...listed.values,
  );
  const read = new Map<number, Buffer>();
  for (const row of rows) {
    const batch = Number(row.batch);
    try {
      read.set(batch, sealing.openLines(row.lines, placeOfBatch(number, form, batch)));
    } catch (error) {
      if (!(error instanceof KeyError && isGone(error))) throw error;
    }
  }
  return read;
}

/** Removes a booking from the index. */
export function* removeStay({
  run,
  form,
  hotelHash,
  position,
}: {
  readonly run: number;
  readonly form: BookingForm;
  readonly hotelHash: number;
  readonly position: number;
}): Query<void> {
  const rows = yield* all(
    `SELECT * FROM stay_pages WHERE run = ? AND form = ? AND first_hash <= ? AND last_hash >= ?`,
    run,
    form,
    hotelHash,
    hotelHash,
  );
  for (const { first_hash, last_hash, page, first_position, entries } of rows) {
    const kept = removeFromStayPage(entries as Buffer, hotelHash, position - Number(first_position));
    if (kept.length === (entries as Buffer).length) continue;
    yield* change(
      `UPDATE stay_pages SET entries = ?
       WHERE run = ? AND form = ? AND first_hash = ? AND last_hash = ? AND page = ?`,
      kept,
      run,
      form,
      Number(first_hash),
      Number(last_hash),
      Number(page),
    );
  }
}

export function insertStayPages(run: number, form: BookingForm, pages: Iterable<StayPage>): Query<void> {
  const columns = {
    ...({ run: 'bigint', form: 'text', first_hash: 'bigint', last_hash: 'bigint', page: 'integer' } as const),
    ...({ first_position: 'bigint', latest_day: 'integer', entries: 'bytes' } as const),
  };
  return insert('stay_pages', columns, toRows(run, form, pages));
}

function* toRows(run: number, form: BookingForm, pages: Iterable<StayPage>) {
  for (const { firstHash, lastHash, page, firstPosition, latestDay, entries } of pages)
    yield [run, form, firstHash, lastHash, page, firstPosition, latestDay, entries];
}

/** A booking whose stay is ahead or not over yet, in its latest version. */
export interface StayAhead extends ProviderHotel {
  /** The master hotel, as booked. */
  readonly serviceId: number;
  readonly reference?: string;
  /** YYYY-MM-DD */
  readonly checkIn?: string;
  /** YYYY-MM-DD */
  readonly checkOut?: string;
  /** The business day of the run that stored it. */
  readonly day: string;
  readonly runId: string;
}

/** A run whose bookings count. */
export interface StayRun {
  readonly runId: string;
  /** Its number in the ledger. */
  readonly number: number;
  readonly day: string;
  readonly delivery: DeliveryKind;
  /** See `Run`. */
  readonly topsUp: boolean;
  readonly batchSize: number;
}

/** Positions of bookings among all bookings of their form. */
export interface FoundBookings {
  readonly form: BookingForm;
  /** Ascending, each once. */
  readonly positions: readonly number[];
}

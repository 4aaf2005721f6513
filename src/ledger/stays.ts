import { countDays } from '../booking/booking-keys.js';
import { KeyError } from '../keys/key-error.js';
import type { FoundBookings, StayIndex, StayRun } from '../review/stays.js';
import type { BookingForm } from '../review/step.js';
import { findBookings, type HashPages } from './hash-pages.js';
import { all, change, type Dialect, insert, type Query, type Store } from './query.js';
import { isGone, placeOfBatch } from './sealing.js';
import { readStayWords, removeFromStayPage, type StayPage, toStoredDay } from './stay-index.js';

export function createStays({ dialect, read }: Store): StayIndex {
  return {
    listStayRuns: () => read(() => listStayRuns(dialect)),
    findStays: (run, hashes, from) => read(() => findStays(dialect, run, hashes, from)),
    findReferences: (run, hashes) => read(() => findBookings(dialect, run, hashes, referencePages)),
    readReadableBatches: (run, form, batches) => read(() => readReadableBatches(dialect, run, form, batches)),
  };
}

/** The pages of the references. */
export const referencePages: HashPages = { table: 'reference_pages', toPositions: (positions) => positions };

function* listStayRuns({ schema }: Dialect): Query<StayRun[]> {
  const rows = yield* all(
    `SELECT number, id, day, delivery, tops_up, batch_size FROM ${schema}runs
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

function findStays(
  dialect: Dialect,
  run: StayRun,
  hashes: Uint32Array,
  from: string,
): Query<FoundBookings[]> {
  const firstDay = toStoredDay(countDays(from), countDays(run.day));
  return findBookings(dialect, run, hashes, {
    table: 'stay_pages',
    only: { sql: 'latest_day >= ?', values: [firstDay] },
    toPositions: (words, page) => readStayWords(words, Number(page.first_position), firstDay),
  });
}

function* readReadableBatches(
  { schema, lines, sealing, isListed }: Dialect,
  { number }: StayRun,
  form: BookingForm,
  batches: readonly number[],
): Query<Map<number, Buffer>> {
  const listed = isListed('batch', batches);
  const rows = yield* all(
    `SELECT batch, ${lines} AS lines FROM ${schema}batches WHERE run = ? AND form = ? AND ${listed.sql}`,
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
export function* removeStay(
  { schema }: Dialect,
  {
    run,
    form,
    hotelHash,
    position,
  }: {
    readonly run: number;
    readonly form: BookingForm;
    readonly hotelHash: number;
    readonly position: number;
  },
): Query<void> {
  const rows = yield* all(
    `SELECT * FROM ${schema}stay_pages WHERE run = ? AND form = ? AND first_hash <= ? AND last_hash >= ?`,
    run,
    form,
    hotelHash,
    hotelHash,
  );
  for (const { first_hash, last_hash, page, first_position, entries } of rows) {
    const kept = removeFromStayPage(entries as Buffer, hotelHash, position - Number(first_position));
    if (kept.length === (entries as Buffer).length) continue;
    yield* change(
      `UPDATE ${schema}stay_pages SET entries = ?
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

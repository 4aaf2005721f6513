import { countDays } from '../booking/booking.js';
import type { ProviderHotel } from '../booking/line-form.js';
import { type BookingForm, bookingForms } from '../booking/line-form.js';
import type { StayDates } from '../booking/stay.js';
import type { DeliveryKind } from '../rules/run.js';
import { KeyError } from '../storage/day-keys.js';
import { findInPage, readStayWords, removeFromStayPage, toStoredDay } from './hash-index.js';
import type { StoredRow } from './query.js';
import { all, bind, type Cell, change, database, type Query, type Statement, type Store } from './query.js';
import { isGone, placeOfBatch } from './sealing.js';
import { bigint, columnsOf, flag, type Row, text } from './table.js';

export function createStays(store: Store) {
  return bind(store.read, { listStayRuns, findStays, findReferences, readReadableBatches });
}

/** Bookings whose references may have one of these hashes, in ascending order. */
function findReferences(run: StayRun, hashes: Uint32Array): Query<FoundBookings[]> {
  return findBookings(run, hashes, referencePages);
}

/** The pages of the references. */
export const referencePages: HashPages = { table: 'reference_pages', toPositions: (positions) => positions };

/** A run whose bookings count. */
export type StayRun = Row<typeof stayRuns>;
const stayRuns = columnsOf({
  number: bigint,
  runId: text(),
  day: text(),
  delivery: text<DeliveryKind>(),
  /** See `Run`. */
  topsUp: flag,
  batchSize: bigint,
});

/** Runs whose bookings are stored. */
export function* selectStayRuns(rest: string, ...values: readonly Cell[]): Query<StayRun[]> {
  const rows = yield* all(
    `SELECT number, id AS run_id, day, delivery, tops_up, batch_size FROM runs
     WHERE batch_size IS NOT NULL AND pruned_at IS NULL ${rest}`,
    ...values,
  );
  return rows.map(stayRuns.read);
}

/**
 * The runs whose bookings count, the latest first: those that were collected to the end, whatever became of their delivery.
 * A later business day is later, and of one day the run that was started later.
 */
const listStayRuns = () => selectStayRuns('AND collected_at IS NOT NULL ORDER BY day DESC, number DESC');

/**
 * Bookings of the run at hotels with these hashes whose stay ends on the day `from` or later, or nobody knows when.
 *
 * @param hashes ascending
 */
function findStays(run: StayRun, hashes: Uint32Array, from: string): Query<FoundHashes[]> {
  const firstDay = toStoredDay(countDays(from), countDays(run.day));
  return findHashes(run, hashes, {
    table: 'stay_pages',
    only: { sql: 'latest_day >= ?', values: [firstDay] },
    toPositions: (words, page) => readStayWords(words, Number(page.first_position), firstDay),
  });
}

/** The lines of these batches of the run; a batch that was removed meanwhile, or whose key is gone, is absent. */
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

/** A booking whose stay is ahead or not over yet, in its latest version. */
export interface StayAhead extends ProviderHotel, StayDates {
  /** The master hotel, as booked. */
  readonly serviceId: number;
  readonly reference?: string;
  /** The business day of the run that stored it. */
  readonly day: string;
  readonly runId: string;
}

/** Positions of bookings among all bookings of their form. */
export interface FoundBookings {
  readonly form: BookingForm;
  /** Ascending, each once. */
  readonly positions: readonly number[];
}

/** Bookings with some of the hashes that were looked up, in eight bytes each. */
export interface FoundHashes {
  readonly form: BookingForm;
  /** Which hash each booking has: its place among them. */
  readonly places: Uint32Array;
  readonly positions: Uint32Array;
}

/** Pages that `createHashIndex` made. */
export interface HashPages {
  readonly table: 'reference_pages' | 'stay_pages';
  /** Which pages to search; all by default. */
  readonly only?: Statement<Cell>;
  /** The positions of bookings with a hash, from its words in a page. */
  toPositions(words: readonly number[], page: StoredRow): readonly number[];
}

/** Hashes are looked up in ranges: of one hash each, or with very many hashes, all ranges together span all pages. */
const mostRanges = 64;
/** How many of them one query looks up. */
const rangesAtOnce = 8;

/**
 * The positions of the run's bookings with any of these hashes.
 *
 * @param hashes ascending
 */
export function* findBookings(
  run: Pick<StayRun, 'number' | 'delivery'>,
  hashes: Uint32Array,
  pages: HashPages,
): Query<FoundBookings[]> {
  const found = yield* findHashes(run, hashes, pages);
  return found.map(({ form, positions }) => ({ form, positions: Array.from(positions.sort()) }));
}

function* findHashes(
  { number, delivery }: Pick<StayRun, 'number' | 'delivery'>,
  hashes: Uint32Array,
  pages: HashPages,
): Query<FoundHashes[]> {
  const found: FoundHashes[] = [];
  const size = Math.ceil(hashes.length / mostRanges);
  for (const form of bookingForms) {
    if (form === 'file' && delivery === 'body') continue;
    const places: number[] = [];
    const positions: number[] = [];
    for (let from = 0; from < hashes.length; from += rangesAtOnce * size) {
      const asked = hashes.subarray(from, from + rangesAtOnce * size);
      for (const row of yield* readPages([number, form], asked, size, pages))
        for (const { at, position } of listPositions(row, asked, pages)) {
          places.push(from + at);
          positions.push(position);
        }
    }
    if (positions.length > 0)
      found.push({ form, places: Uint32Array.from(places), positions: Uint32Array.from(positions) });
  }
  return found;
}

/** The pages that may hold one of these hashes, each once. */
function readPages(
  run: readonly [number: number, form: BookingForm],
  hashes: Uint32Array,
  size: number,
  { table, only }: HashPages,
): Query<readonly StoredRow[]> {
  const ranges: Statement<Cell>[] = [];
  for (let at = 0; at < hashes.length; at += size) {
    const range = hashes.subarray(at, at + size);
    ranges.push({
      sql: 'first_hash <= ? AND last_hash >= ?',
      values: [range.at(-1) ?? 0, range[0] ?? 0],
    });
  }
  return all(
    `SELECT * FROM ${table} WHERE run = ? AND form = ? ${only ? `AND ${only.sql}` : ''}
       AND (${ranges.map(({ sql }) => sql).join(' OR ')})`,
    ...run,
    ...(only?.values ?? []),
    ...ranges.flatMap(({ values }) => values),
  );
}

/** The positions of the bookings in a page with one of these hashes, each with the place of its hash. */
function* listPositions(page: StoredRow, hashes: Uint32Array, { toPositions }: HashPages) {
  const last = Number(page.last_hash);
  for (let at = firstFrom(hashes, Number(page.first_hash)); at < hashes.length; at += 1) {
    const hash = hashes[at] ?? 0;
    if (hash > last) return;
    for (const position of toPositions(findInPage(page.entries as Buffer, hash), page))
      yield { at, position };
  }
}

/** The index of the first hash that is not smaller. */
function firstFrom(hashes: Uint32Array, least: number): number {
  let low = 0;
  let high = hashes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((hashes[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

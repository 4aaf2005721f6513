import { countDays } from '../booking/booking-keys.js';
import { KeyError } from '../keys/key-error.js';
import { bytesPerEntry, findInPage, readStayWords, removeFromStayPage, toStoredDay } from './hash-index.js';
import type { ProviderHotel } from './mappings.js';
import { all, bind, type Cell, change, database, type Query, type Statement, type Store } from './query.js';
import type { DeliveryKind } from './run.js';
import { isGone, placeOfBatch } from './sealing.js';
import { type BookingForm, bookingForms } from './step.js';
import type { StoredRow } from './stored-values.js';

export function createStays(store: Store) {
  return bind(store.read, { listStayRuns, findStays, findReferences, readReadableBatches });
}

/** Bookings whose references may have one of these hashes, in ascending order. */
function findReferences(run: StayRun, hashes: Uint32Array): Query<FoundBookings[]> {
  return findBookings(run, hashes, referencePages);
}

/** The pages of the references. */
export const referencePages: HashPages = { table: 'reference_pages', toPositions: (positions) => positions };

/**
 * The runs whose bookings count, the latest first: those that were collected to the end, whatever became of their delivery.
 * A later business day is later, and of one day the run that was started later.
 */
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

/**
 * Bookings of the run at hotels with these hashes whose stay ends on the day `from` or later, or nobody knows when.
 *
 * @param hashes ascending
 */
function findStays(run: StayRun, hashes: Uint32Array, from: string): Query<FoundBookings[]> {
  const firstDay = toStoredDay(countDays(from), countDays(run.day));
  return findBookings(run, hashes, {
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

/** Pages that `createHashIndex` made. */
export interface HashPages {
  readonly table: 'reference_pages' | 'stay_pages';
  /** Which pages to search; all by default. */
  readonly only?: Statement<Cell>;
  /** The positions of bookings with a hash, from its words in a page. */
  toPositions(words: readonly number[], page: StoredRow): readonly number[];
}

/** Sizes of a look-up by hash. With more hashes, all pages of the run are read, which then takes no longer. */
const lookUpSizes = [1, 8, 64] as const;
/** Entries read at once: a megabyte. */
const entriesAtOnce = 2 ** 17;

/**
 * The positions of the run's bookings with any of these hashes.
 *
 * @param hashes ascending
 */
export function* findBookings(
  { number, delivery }: Pick<StayRun, 'number' | 'delivery'>,
  hashes: Uint32Array,
  pages: HashPages,
): Query<FoundBookings[]> {
  const found: FoundBookings[] = [];
  if (hashes.length === 0) return found;
  const size = lookUpSizes.find((most) => hashes.length <= most);
  for (const form of bookingForms) {
    if (form === 'file' && delivery === 'body') continue;
    const positions: number[] = [];
    const search = (rows: readonly StoredRow[]) => {
      for (const row of rows) for (const position of findInRow(row, hashes, pages)) positions.push(position);
    };
    if (size === undefined) yield* readPages({ number, form }, hashes, pages, search);
    else search(yield* lookUpPages({ number, form }, hashes, pages, size));
    if (positions.length > 0) found.push({ form, positions: positions.sort((a, b) => a - b) });
  }
  return found;
}

interface PagesOfForm {
  readonly number: number;
  readonly form: BookingForm;
}

function lookUpPages(
  { number, form }: PagesOfForm,
  hashes: Uint32Array,
  { table, only }: HashPages,
  size: number,
): Query<readonly StoredRow[]> {
  // Padded with the last hash: the databases can prepare the same few statements.
  const asked = Array.from({ length: size }, (_, index) => hashes[Math.min(index, hashes.length - 1)] ?? 0);
  return all(
    `SELECT * FROM ${table} WHERE run = ? AND form = ? ${only ? `AND ${only.sql}` : ''}
       AND (${asked.map(() => 'first_hash <= ? AND last_hash >= ?').join(' OR ')})`,
    number,
    form,
    ...(only?.values ?? []),
    ...asked.flatMap((hash) => [hash, hash]),
  );
}

function* readPages(
  { number, form }: PagesOfForm,
  hashes: Uint32Array,
  { table, only }: HashPages,
  search: (rows: readonly StoredRow[]) => void,
): Query<void> {
  const dialect = yield* database();
  const limit = Math.ceil(entriesAtOnce / dialect[table].pageEntries);
  let after = [-1, -1, -1];
  for (;;) {
    const rows = yield* all(
      `SELECT * FROM ${table} WHERE run = ? AND form = ? ${only ? `AND ${only.sql}` : ''}
         AND first_hash <= ? AND last_hash >= ? AND (first_hash, last_hash, page) > (?, ?, ?)
       ORDER BY first_hash, last_hash, page LIMIT ?`,
      number,
      form,
      ...(only?.values ?? []),
      hashes.at(-1) ?? 0,
      hashes[0] ?? 0,
      ...after,
      limit,
    );
    search(rows);
    const last = rows.at(-1);
    if (rows.length < limit || !last) return;
    after = [Number(last.first_hash), Number(last.last_hash), Number(last.page)];
  }
}

function* findInRow(row: StoredRow, hashes: Uint32Array, { toPositions }: HashPages): Generator<number> {
  const entries = row.entries as Buffer;
  const [from, to] = [
    firstFrom(hashes, Number(row.first_hash)),
    firstFrom(hashes, Number(row.last_hash) + 1),
  ];
  const asked = hashes.subarray(from, to);
  for (const hash of asked.length * bytesPerEntry < entries.length ? asked : listCommon(entries, asked)) {
    const words = findInPage(entries, hash);
    if (words.length > 0) yield* toPositions(words, row);
  }
}

/**
 * The hashes that occur in a page, when there are more hashes than entries: searching the page for each would take
 * long.
 */
function listCommon(entries: Buffer, hashes: Uint32Array): readonly number[] {
  const common: number[] = [];
  let next = 0;
  for (let at = 4; at < entries.length; at += bytesPerEntry) {
    const hash = entries.readUInt32LE(at);
    if (hash === common.at(-1)) continue;
    next = firstFrom(hashes, hash, next);
    if (hashes[next] === hash) common.push(hash);
  }
  return common;
}

/** The index of the first hash that is not smaller. */
function firstFrom(hashes: Uint32Array, least: number, from = 0): number {
  let low = from;
  let high = hashes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((hashes[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

import { bytesPerEntry, findInPage } from './hash-index.js';
import { all, type Cell, database, type Query, type Statement } from './query.js';
import type { FoundBookings, StayRun } from './stays.js';
import { type BookingForm, bookingForms } from './step.js';
import type { StoredRow } from './stored-values.js';

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

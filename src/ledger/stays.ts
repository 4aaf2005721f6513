import type { ProviderHotel } from '../booking/booking.js';
import { countDays, noHotel, noReference, unknownLastDay } from '../booking/booking.js';
import { type BatchStream, batchStreams } from '../booking/sending.js';
import type { StayDates } from '../booking/stay.js';
import type { DeliveryKind } from '../rules/run.js';
import type { CollectedBatch, StayKeys } from './collecting.js';
import {
  all,
  type Candidates,
  change,
  type Dialect,
  type Named,
  type Query,
  reads,
  type Sql,
  type StoredRow,
  sql,
} from './query.js';
import { runs } from './runs.js';
import * as t from './table.js';

export const bytesPerEntry = 8;

/** How a database stores such an index. */
export interface HashIndexOptions {
  readonly pageEntries: number;
}

/**
 * Finds the bookings of a reference or a hotel without a database index that would have to be maintained while a day is
 * loaded.
 *
 * Each entry is a 64-bit number: the hash in the high bits, a word with the booking's position in the low bits. Entries are
 * collected in memory; whenever there are enough, they are sorted and written as pages, so that a larger day needs no more
 * memory. A hit is only a candidate: the line itself must be checked.
 *
 * @param pageEntries entries per page: a look-up reads one page of each segment, or all that contain the same hash
 * @param segmentEntries entries that are sorted together
 */
export function createHashIndex(
  { pageEntries }: HashIndexOptions,
  { segmentEntries = 2 ** 19 }: { readonly segmentEntries?: number } = {},
) {
  let entries = new Uint32Array(2 * 65_536);
  let count = 0;
  let segment = 0;
  let firstPage = 0;

  return {
    /** @param hash 0 for a booking without a key to find it by: it is not indexed */
    add(hash: number, word: number): void {
      if (hash === 0) return;
      if (2 * count === entries.length) {
        const larger = new Uint32Array(2 * entries.length);
        larger.set(entries);
        entries = larger;
      }
      entries[2 * count] = word;
      entries[2 * count + 1] = hash;
      count += 1;
    },

    /** How many entries are in memory. */
    size: () => count,

    /** Whether the pages should be written now and the index cleared. */
    isFull: () => count >= segmentEntries,

    /** Sorts the entries and splits them into pages; repeated calls return the same pages. */
    *pages() {
      const sorted = new BigUint64Array(entries.buffer, 0, count).sort();
      for (let start = 0; start < count; start += pageEntries) {
        const page = sorted.subarray(start, start + pageEntries);
        yield {
          segment,
          page: firstPage + start / pageEntries,
          firstHash: hashOf(page[0]),
          lastHash: hashOf(page[page.length - 1]),
          entries: Buffer.from(page.buffer, page.byteOffset, page.byteLength),
        };
      }
    },

    /** Removes all entries, once their pages are written. */
    clear(): void {
      firstPage += Math.ceil(count / pageEntries);
      segment += 1;
      count = 0;
    },
  };
}

/** The words of that hash in a page, in the page's order. */
export function findInPage(page: Buffer, hash: number): number[] {
  const words: number[] = [];
  for (
    let at = firstEntryOf(page, hash);
    at < page.length && page.readUInt32LE(at + 4) === hash;
    at += bytesPerEntry
  ) {
    words.push(page.readUInt32LE(at));
  }
  return words;
}

/** The bookings that may have the reference of that hash, the newest run first, from the pages of some runs. */
export function gatherCandidates(pages: readonly StoredRow[], hash: number): Candidates[] {
  const found = new Map<string, Candidates & { positions: number[] }>();
  for (const { number, stream, batch_size, entries } of pages) {
    const positions = findInPage(entries as Buffer, hash);
    const key = `${number} ${stream}`;
    const known = found.get(key);
    if (known) known.positions.push(...positions);
    else if (positions.length > 0)
      found.set(key, {
        ...{ run: Number(number), stream: stream as BatchStream, batchSize: Number(batch_size) },
        positions,
      });
  }
  for (const { positions } of found.values()) positions.sort((a, b) => a - b);
  return [...found.values()].sort((a, b) => b.run - a.run || (a.stream < b.stream ? -1 : 1));
}

function firstEntryOf(page: Buffer, hash: number): number {
  let low = 0;
  let high = page.length / bytesPerEntry;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (page.readUInt32LE(middle * bytesPerEntry + 4) < hash) low = middle + 1;
    else high = middle;
  }
  return low * bytesPerEntry;
}

function hashOf(entry: bigint | undefined): number {
  return Number((entry ?? 0n) >> 32n);
}

const positionBits = 20;
const mostPositions = 2 ** positionBits;
/** The other half leaves room for the last chunk, which has far fewer bookings. */
const positionsPerSegment = mostPositions / 2;

/** Stands for a last day that is unknown, or later than eleven years after the business day. */
const openLastDay = 0xfff;

/**
 * Indexes the bookings of one stream by their provider hotels. The last day of the stay stands beside the position, so that
 * stays that are over are skipped without reading a booking. Positions are counted from the first one of each segment, which
 * stands in each of its pages, beside the latest day in the page.
 *
 * @param day the business day
 */
function createStayIndex(options: HashIndexOptions, day: string) {
  const index = createHashIndex(options);
  const dayNumber = countDays(day);
  let firstPosition = 0;
  let end = 0;

  return {
    /** @param firstOfBatch the position of the batch's first booking */
    addBatch({ hotelHashes, lastDays }: StayKeys, firstOfBatch: number): void {
      if (end === 0) firstPosition = firstOfBatch;
      end = firstOfBatch + hotelHashes.length;
      if (end - firstPosition > mostPositions)
        throw new RangeError(`expected at most ${mostPositions} bookings in a segment`);
      const offset = firstOfBatch - firstPosition;
      // A loop over indexes: an iterator takes three times as long.
      for (let row = 0; row < hotelHashes.length; row += 1) {
        const lastDay = toStoredDay(lastDays[row] ?? unknownLastDay, dayNumber);
        index.add(hotelHashes[row] ?? noHotel, lastDay * mostPositions + offset + row);
      }
    },

    size: index.size,

    /** Whether the pages should be written now and the index cleared. */
    isFull: () => index.isFull() || end - firstPosition >= positionsPerSegment,

    /** Sorts the entries and splits them into pages; repeated calls return the same pages. */
    *pages() {
      for (const { segment: _, ...page } of index.pages())
        yield { ...page, firstPosition, latestDay: findLatestDay(page.entries) };
    },

    /** Removes all entries, once their pages are written. */
    clear(): void {
      index.clear();
      end = 0;
    },
  };
}

/** The days from the business day to the last day of the stay; 0 for an earlier one, which is in the booking's line. */
function toStoredDay(lastDay: number, dayNumber: number): number {
  if (lastDay === unknownLastDay) return openLastDay;
  return Math.min(Math.max(lastDay - dayNumber, 0), openLastDay);
}

/** @param from the earliest last day: see `toStoredDay` */
function readStayWords(words: readonly number[], firstPosition: number, from: number): number[] {
  return words
    .filter((word) => lastDayOf(word) >= from)
    .map((word) => firstPosition + (word % mostPositions));
}

/** The page's entries without that booking. */
function removeFromStayPage(entries: Buffer, hash: number, position: number): Buffer {
  const kept: Buffer[] = [];
  for (let at = 0; at < entries.length; at += bytesPerEntry) {
    const isRemoved =
      entries.readUInt32LE(at + 4) === hash && entries.readUInt32LE(at) % mostPositions === position;
    if (!isRemoved) kept.push(entries.subarray(at, at + bytesPerEntry));
  }
  return Buffer.concat(kept);
}

function lastDayOf(word: number): number {
  return word >>> positionBits;
}

function findLatestDay(entries: Buffer): number {
  let last = 0;
  for (let at = 0; at < entries.length; at += bytesPerEntry)
    last = Math.max(last, lastDayOf(entries.readUInt32LE(at)));
  return last;
}

const page = {
  run: t.numberOf('runs'),
  stream: t.text<BatchStream>(),
  firstHash: t.bigint,
  lastHash: t.bigint,
  page: t.integer,
};
/**
 * Pages of (hash of the reference, position). They are written once they are sorted: no index is maintained while a day is
 * loaded. Those of a segment are sorted together.
 */
export const referenceRows = t.table(
  'reference_pages',
  { ...page, segment: t.integer, entries: t.bytes },
  { key: 'run, stream, segment, first_hash, last_hash, page' },
);
/** The same by provider hotel, with the last day of the stay. */
export const stayRows = t.table(
  'stay_pages',
  { ...page, firstPosition: t.bigint, latestDay: t.integer, entries: t.bytes },
  { key: 'run, stream, first_hash, last_hash, page' },
);

/**
 * The indexes of a run that is being collected: by reference and by provider hotel, for each stream. A full index is
 * written with the next chunk.
 */
export function createCollectedIndexes(
  dialect: Pick<Dialect, 'reference_pages' | 'stay_pages'>,
  { number, day }: { readonly number: number; readonly day: string },
) {
  const ofStream = (stream: BatchStream) => {
    const references = createHashIndex(dialect.reference_pages);
    const stays = createStayIndex(dialect.stay_pages, day);
    const rowsOf = <Page>(pages: Iterable<Page>) =>
      Array.from(pages, (page) => ({ run: number, stream, ...page }));
    // Each writes its pages; a repeated call writes the same ones.
    const all = [
      { ...references, store: () => referenceRows.insert(rowsOf(references.pages())) },
      { ...stays, store: () => stayRows.insert(rowsOf(stays.pages())) },
    ];
    return { references, stays, all };
  };
  const streams = { file: ofStream('file'), posted: ofStream('posted') };
  const all = batchStreams.flatMap((stream) => streams[stream].all);

  return {
    all,
    listFull: () => all.filter(({ isFull }) => isFull()),
    add(batches: readonly CollectedBatch[], batchSize: number): void {
      for (const { stream, number: batch, referenceHashes, stays } of batches) {
        const first = batch * batchSize;
        // A loop over indexes: an iterator takes three times as long.
        for (let row = 0; row < referenceHashes.length; row += 1)
          streams[stream].references.add(referenceHashes[row] ?? noReference, first + row);
        if (stays) streams[stream].stays.addBatch(stays, first);
      }
    },
  };
}

/** Bookings whose references may have one of these hashes, in ascending order. */
export const findReferences = reads((run: StayRun, hashes: Uint32Array): Query<FoundBookings[]> => {
  return findBookings(run, hashes, referencePages);
});

/** The pages of the references. */
export const referencePages: HashPages = { table: referenceRows, toPositions: (positions) => positions };

/** A run whose bookings count. */
export type StayRun = t.Row<typeof stayRuns>;
const stayRuns = t.columnsOf({
  number: t.bigint,
  runId: t.text(),
  day: t.text(),
  delivery: t.text<DeliveryKind>(),
  /** See `Run`. */
  topsUp: t.flag,
  batchSize: t.bigint,
});

/** Runs whose bookings are stored. */
export function* selectStayRuns(rest: Sql): Query<StayRun[]> {
  return yield* stayRuns.all(
    sql`SELECT number, id AS run_id, day, delivery, tops_up, batch_size FROM ${runs}
     WHERE batch_size IS NOT NULL AND pruned_at IS NULL ${rest}`,
  );
}

/**
 * The runs whose bookings count, the latest first: those that were collected to the end, whatever became of their delivery.
 * A later business day is later, and of one day the run that was started later.
 */
export const listStayRuns = reads(() =>
  selectStayRuns(sql`AND collected_at IS NOT NULL ORDER BY day DESC, number DESC`),
);

/**
 * Bookings of the run at hotels with these hashes whose stay ends on the day `from` or later, or nobody knows when.
 *
 * @param hashes ascending
 */
export const findStays = reads((run: StayRun, hashes: Uint32Array, from: string): Query<FoundHashes[]> => {
  const firstDay = toStoredDay(countDays(from), countDays(run.day));
  return findHashes(run, hashes, {
    table: stayRows,
    only: sql`latest_day >= ${firstDay}`,
    toPositions: (words, page) => readStayWords(words, Number(page.first_position), firstDay),
  });
});

/** Removes a booking from the index. */
export function* removeStay({
  run,
  stream,
  hotelHash,
  position,
}: {
  readonly run: number;
  readonly stream: BatchStream;
  readonly hotelHash: number;
  readonly position: number;
}): Query<void> {
  const rows = yield* all(
    sql`SELECT * FROM ${stayRows} WHERE run = ${run} AND stream = ${stream}
       AND first_hash <= ${hotelHash} AND last_hash >= ${hotelHash}`,
  );
  for (const { first_hash, last_hash, page, first_position, entries } of rows) {
    const kept = removeFromStayPage(entries as Buffer, hotelHash, position - Number(first_position));
    if (kept.length === (entries as Buffer).length) continue;
    yield* change(
      sql`UPDATE ${stayRows} SET entries = ${kept}
       WHERE run = ${run} AND stream = ${stream} AND first_hash = ${Number(first_hash)}
         AND last_hash = ${Number(last_hash)} AND page = ${Number(page)}`,
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

/** Positions of bookings among all bookings of their stream. */
export interface FoundBookings {
  readonly stream: BatchStream;
  /** Ascending, each once. */
  readonly positions: readonly number[];
}

/** Bookings with some of the hashes that were looked up, in eight bytes each. */
export interface FoundHashes {
  readonly stream: BatchStream;
  /** Which hash each booking has: its index among them. */
  readonly hashIndexes: Uint32Array;
  readonly positions: Uint32Array;
}

/** Pages that `createHashIndex` made. */
interface HashPages {
  readonly table: Named;
  /** Which pages to search; all by default. */
  readonly only?: Sql;
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
  return found.map(({ stream, positions }) => ({ stream, positions: Array.from(positions.sort()) }));
}

function* findHashes(
  { number, delivery }: Pick<StayRun, 'number' | 'delivery'>,
  hashes: Uint32Array,
  pages: HashPages,
): Query<FoundHashes[]> {
  const found: FoundHashes[] = [];
  const size = Math.ceil(hashes.length / mostRanges);
  for (const stream of batchStreams) {
    if (stream === 'file' && delivery === 'body') continue;
    const hashIndexes: number[] = [];
    const positions: number[] = [];
    for (let from = 0; from < hashes.length; from += rangesAtOnce * size) {
      const asked = hashes.subarray(from, from + rangesAtOnce * size);
      for (const row of yield* readPages([number, stream], asked, size, pages))
        for (const { at, position } of listPositions(row, asked, pages)) {
          hashIndexes.push(from + at);
          positions.push(position);
        }
    }
    if (positions.length > 0)
      found.push({
        stream,
        hashIndexes: Uint32Array.from(hashIndexes),
        positions: Uint32Array.from(positions),
      });
  }
  return found;
}

/** The pages that may hold one of these hashes, each once. */
function readPages(
  run: readonly [number: number, stream: BatchStream],
  hashes: Uint32Array,
  size: number,
  { table, only }: HashPages,
): Query<readonly StoredRow[]> {
  const ranges: Sql[] = [];
  for (let at = 0; at < hashes.length; at += size) {
    const range = hashes.subarray(at, at + size);
    ranges.push(sql`first_hash <= ${range.at(-1) ?? 0} AND last_hash >= ${range[0] ?? 0}`);
  }
  const [number, stream] = run;
  return all(
    sql`SELECT * FROM ${table} WHERE ${sql.and([sql`run = ${number} AND stream = ${stream}`, only ?? false])}
       AND (${sql.or(ranges)})`,
  );
}

/** The positions of the bookings in a page with one of these hashes, each with the index of its hash. */
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

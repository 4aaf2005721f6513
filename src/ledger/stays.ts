import type { ProviderHotel } from '../booking/booking.js';
import { countDays, hashReference, unknownLastDay } from '../booking/booking.js';
import { type BatchStream, batchStreams } from '../booking/sending.js';
import type { StayDates } from '../booking/stay.js';
import type { DeliveryKind } from '../rules/run.js';
import type { CollectedBatch } from './collecting.js';
import { all, change, database, type Query, reads, type Sql, sql } from './query.js';
import { runs } from './runs.js';
import * as t from './table.js';

const bytesPerEntry = 8;
const positionBits = 20;
const mostPositions = 2 ** positionBits;
/** The other half leaves room for the last chunk, which has far fewer bookings. */
const positionsPerSegment = mostPositions / 2;

/** Stands for a last day that is unknown, or later than eleven years after the business day. */
const openLastDay = 0xfff;

/**
 * Finds the bookings of a reference or a hotel without a database index that would have to be maintained while a day is
 * loaded.
 *
 * Each entry is a 64-bit number: the hash in the high bits, a word in the low bits. The word has the last day of the stay, so that
 * stays that are over are skipped without reading a booking, and the booking's position, counted from the first one of its segment.
 * Entries are collected in memory; whenever there are enough, they are sorted and written as pages, so that a larger day needs no
 * more memory. A hit is only a candidate: the line itself must be checked.
 *
 * @param pageEntries entries per page: a look-up reads one page of each segment, or all that contain the same hash
 */
export function createHashIndex(pageEntries: number, segmentPositions = positionsPerSegment) {
  let entries = new Uint32Array(2 * 1_024);
  let count = 0;
  let segment = 0;
  let firstPage = 0;
  let firstPosition = 0;
  let end = 0;

  return {
    /**
     * Adds bookings in their order.
     *
     * @param hashes 0 for a booking without a key to find it by: it is not indexed
     * @param first the position of the first booking
     * @param dayOf the last day of each, as it is stored
     */
    add(hashes: ArrayLike<number>, first: number, dayOf: (row: number) => number): void {
      if (end === 0) firstPosition = first;
      end = first + hashes.length;
      if (first < firstPosition || end - firstPosition > mostPositions)
        throw new RangeError(`expected bookings in their order, at most ${mostPositions} in a segment`);
      while (2 * (count + hashes.length) > entries.length) {
        const larger = new Uint32Array(2 * entries.length);
        larger.set(entries);
        entries = larger;
      }
      // A loop over indexes: an iterator takes three times as long.
      for (let row = 0; row < hashes.length; row += 1) {
        const hash = hashes[row] ?? 0;
        if (hash === 0) continue;
        entries[2 * count] = dayOf(row) * mostPositions + first - firstPosition + row;
        entries[2 * count + 1] = hash;
        count += 1;
      }
    },

    /** How many entries are in memory. */
    size: () => count,

    /** Whether the pages should be written now and the index cleared. */
    isFull: () => end - firstPosition >= segmentPositions,

    /** Sorts the entries and splits them into pages; repeated calls return the same pages. */
    *pages() {
      const sorted = new BigUint64Array(entries.buffer, 0, count).sort();
      for (let start = 0; start < count; start += pageEntries) {
        const page = sorted.subarray(start, start + pageEntries);
        const bytes = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
        yield {
          ...{ segment, page: firstPage + start / pageEntries, firstPosition },
          firstHash: hashOf(page[0]),
          lastHash: hashOf(page[page.length - 1]),
          latestDay: findLatestDay(bytes),
          entries: bytes,
        };
      }
    },

    /** Removes all entries, once their pages are written. */
    clear(): void {
      firstPage += Math.ceil(count / pageEntries);
      segment += 1;
      count = 0;
      firstPosition = 0;
      end = 0;
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

/** The days from the business day to the last day of the stay; 0 for an earlier one, which is in the booking's line. */
function toStoredDay(lastDay: number, dayNumber: number): number {
  if (lastDay === unknownLastDay) return openLastDay;
  return Math.min(Math.max(lastDay - dayNumber, 0), openLastDay);
}

/** @param from the earliest last day: see `toStoredDay` */
function toPositions(words: readonly number[], firstPosition: number, from = 0): number[] {
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

/**
 * Pages by the hash of the reference, and by that of the provider hotel. They are written once they are sorted: no index is maintained
 * while a day is loaded. Those of a segment are sorted together.
 */
export const bookingPages = t.table(
  'booking_pages',
  {
    run: t.numberOf('runs'),
    kind: t.oneOf('reference', 'hotel'),
    stream: t.text<BatchStream>(),
    segment: t.integer,
    firstHash: t.bigint,
    lastHash: t.bigint,
    page: t.integer,
    firstPosition: t.bigint,
    latestDay: t.integer,
    entries: t.bytes,
  },
  { key: 'run, kind, stream, segment, first_hash, last_hash, page' },
);
type BookingPage = t.Row<typeof bookingPages>;

/**
 * The indexes of a run that is being collected: by reference and by provider hotel, for each stream. A full index is
 * written with the next chunk.
 */
export function createCollectedIndexes(
  pageEntries: number,
  { number: run, day }: { readonly number: number; readonly day: string },
) {
  const dayNumber = countDays(day);
  const all = batchStreams.flatMap((stream) =>
    (['reference', 'hotel'] as const).map((kind) => {
      const index = createHashIndex(pageEntries);
      // A repeated call writes the same pages.
      const store = () =>
        bookingPages.insert(Array.from(index.pages(), (page) => ({ run, kind, stream, ...page })));
      return { ...index, kind, stream, store };
    }),
  );

  return {
    all,
    listFull: () => all.filter(({ isFull }) => isFull()),
    add(batches: readonly CollectedBatch[], batchSize: number): void {
      for (const { stream, number, referenceHashes, stays } of batches) {
        const first = number * batchSize;
        for (const index of all) {
          if (index.stream !== stream) continue;
          if (index.kind === 'reference') index.add(referenceHashes, first, () => openLastDay);
          else if (stays)
            index.add(stays.hotelHashes, first, (row) =>
              toStoredDay(stays.lastDays[row] ?? unknownLastDay, dayNumber),
            );
        }
      }
    },
  };
}

/** Where a reference is looked for. */
export interface TraceRange {
  /** Only what was sent of that business day. */
  readonly day?: string | undefined;
  /** The numbers of the first and the last run. */
  readonly from: number;
  readonly to: number;
}

/** Positions of bookings that may have a reference, in one run and stream. */
export interface Candidates {
  readonly run: number;
  readonly stream: BatchStream;
  readonly batchSize: number;
  /** Lowest first. */
  readonly positions: number[];
}

/** After years there are thousands of runs: a statement for each takes three times as long. */
const runsAtOnce = 100;

/** Bookings that may have that reference, the newest run first. */
export function* findCandidates(reference: string, { day, from, to }: TraceRange): Query<Candidates[]> {
  const { isListed, holds } = yield* database();
  const hash = hashReference(reference);
  // The hash as bytes of an entry: after years, sending every page where it may be would take most of the time.
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(hash);
  const found: Candidates[] = [];
  const searched = yield* selectStayRuns(
    sql`AND day = coalesce(${day ?? null}, day) AND number BETWEEN ${from} AND ${to} ORDER BY number DESC`,
  );
  for (let first = 0; first < searched.length; first += runsAtOnce) {
    const sizes = new Map(
      searched.slice(first, first + runsAtOnce).map(({ number, batchSize }) => [number, batchSize]),
    );
    const pages = yield* bookingPages.list(
      sql`WHERE ${isListed(sql`run`, [...sizes.keys()])} AND kind = 'reference' AND first_hash <= ${hash} AND last_hash >= ${hash}
         AND ${holds(sql`entries`, bytes)}
       ORDER BY run DESC, stream, segment, page`,
    );
    for (const { run, stream, firstPosition, entries } of pages) {
      const positions = toPositions(findInPage(entries, hash), firstPosition);
      const last = found.at(-1);
      if (last?.run === run && last.stream === stream) last.positions.push(...positions);
      else if (positions.length > 0) found.push({ run, stream, batchSize: sizes.get(run) ?? 0, positions });
    }
  }
  return found;
}

/** Bookings whose references may have one of these hashes, in ascending order. @param hashes ascending */
export const findReferences = reads(function* (run: StayRun, hashes: Uint32Array): Query<FoundBookings[]> {
  const found = yield* findHashes(run, hashes, { kind: 'reference', from: 0 });
  return found.map(({ stream, positions }) => ({ stream, positions: Array.from(positions.sort()) }));
});

/** A run whose bookings count. */
export interface StayRun {
  readonly number: number;
  readonly runId: string;
  readonly day: string;
  readonly delivery: DeliveryKind;
  /** See `Run`: 1 or 0. */
  readonly topsUp: number;
  readonly batchSize: number;
}

/** Runs whose bookings are stored. */
export function selectStayRuns(rest: Sql): Query<readonly StayRun[]> {
  return all(
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

/** Those whose collect did not end, the latest first: their bookings are in no index yet. */
export const listUncollected = reads(() =>
  selectStayRuns(sql`AND collected_at IS NULL ORDER BY number DESC`),
);

/**
 * Bookings of the run at hotels with these hashes whose stay ends on the day `from` or later, or nobody knows when.
 *
 * @param hashes ascending
 */
export const findStays = reads(
  (run: StayRun, hashes: Uint32Array, from: string): Query<FoundHashes[]> =>
    findHashes(run, hashes, { kind: 'hotel', from: toStoredDay(countDays(from), countDays(run.day)) }),
);

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
  const pages = yield* bookingPages.list(
    sql`WHERE run = ${run} AND kind = 'hotel' AND stream = ${stream}
       AND first_hash <= ${hotelHash} AND last_hash >= ${hotelHash}`,
  );
  for (const { page, firstPosition, entries } of pages) {
    const kept = removeFromStayPage(entries, hotelHash, position - firstPosition);
    if (kept.length === entries.length) continue;
    yield* change(
      sql`UPDATE ${bookingPages} SET entries = ${kept}
       WHERE run = ${run} AND kind = 'hotel' AND stream = ${stream} AND page = ${page}`,
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

/** Which pages to search, and the earliest last day of a stay, as it is stored. */
interface Wanted {
  readonly kind: BookingPage['kind'];
  readonly from: number;
}

/** Hashes are looked up in ranges: of one hash each, or with very many hashes, all ranges together span all pages. */
const mostRanges = 64;
/** How many of them one query looks up. */
const rangesAtOnce = 8;

/** The positions of the run's bookings with any of these hashes. @param hashes ascending */
function* findHashes(
  { number, delivery }: StayRun,
  hashes: Uint32Array,
  wanted: Wanted,
): Query<FoundHashes[]> {
  const found: FoundHashes[] = [];
  const size = Math.ceil(hashes.length / mostRanges);
  for (const stream of batchStreams) {
    if (stream === 'file' && delivery === 'body') continue;
    const hashIndexes: number[] = [];
    const positions: number[] = [];
    for (let from = 0; from < hashes.length; from += rangesAtOnce * size) {
      const asked = hashes.subarray(from, from + rangesAtOnce * size);
      for (const row of yield* readPages([number, stream], asked, size, wanted))
        for (const { at, position } of listPositions(row, asked, wanted.from)) {
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
  { kind, from }: Wanted,
): Query<BookingPage[]> {
  const ranges: Sql[] = [];
  for (let at = 0; at < hashes.length; at += size) {
    const range = hashes.subarray(at, at + size);
    ranges.push(sql`first_hash <= ${range.at(-1) ?? 0} AND last_hash >= ${range[0] ?? 0}`);
  }
  const [number, stream] = run;
  return bookingPages.list(
    sql`WHERE run = ${number} AND kind = ${kind} AND stream = ${stream} AND latest_day >= ${from} AND (${sql.or(ranges)})`,
  );
}

/** The positions of the bookings in a page with one of these hashes, each with the index of its hash. */
function* listPositions(page: BookingPage, hashes: Uint32Array, from: number) {
  for (let at = firstFrom(hashes, page.firstHash); at < hashes.length; at += 1) {
    const hash = hashes[at] ?? 0;
    if (hash > page.lastHash) return;
    const words = findInPage(page.entries, hash);
    for (const position of toPositions(words, page.firstPosition, from)) yield { at, position };
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

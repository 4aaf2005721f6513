import {
  type Booking,
  type BookingKeys,
  findStayKey,
  hashReference,
  noHotel,
  noReference,
  unknownLastDay,
} from '../../booking/booking.js';
import { addDates, noDates } from '../../booking/normalise.js';
import { createLineBuffer } from '../../booking/render-line.js';
import { type BatchStream, batchStreams } from '../../booking/sending.js';
import type { ExtraRow } from '../../ledger/batches.js';
import type { Collect, CollectedBatch } from '../../ledger/collecting.js';
import type { ReasonCount, Reject } from '../../ledger/rejects.js';
import type { RenderedChunk } from './day-reader.js';
import type { DeliveredIndex } from './delivered-lines.js';
import { blockOf, createLineIndex, type LineBlock, lineOf, startOf } from './line-index.js';
import type { SourceKeys } from './superseded.js';

/** More names than this can't be providers: the column holds something else. */
export const maxProviders = 1_000;

/** Bookings per transaction: enough to make the commit negligible, few enough that nobody waits for it. */
const bookingsPerTransaction = 5_000;

export type BookingStore = ReturnType<typeof createBookingStore>;

/** Takes a day's chunks in order and stores new bookings in transactions. */
export function createBookingStore(
  day: string,
  batchSize: number,
  collect: Pick<Collect, 'store' | 'holds'>,
  {
    delivered,
    source,
  }: {
    /** What is not to be stored again. */
    readonly delivered?: DeliveredIndex | undefined;
    /** Gathers what the day's source holds. */
    readonly source?: SourceKeys | undefined;
  } = {},
) {
  const batching = {
    posted: createBatcher('posted', batchSize, collect.holds),
    file: createBatcher('file', batchSize, collect.holds),
  };
  const providers = new Map<string, number>();
  let where: RenderedChunk['where'];
  let extraLabels: readonly string[] = [];
  const lacking = [0, 0, 0, 0];
  /** In all. */
  const counts = { read: 0, rejected: 0, filtered: 0, dates: noDates() };
  /** What no transaction has stored yet. */
  const warnings = new Map<ReasonCount['reason'], ReasonCount>();
  let rejects: Reject[] = [];
  let duplicates = 0;
  let filtered = 0;

  function warn(warning: ReasonCount): void {
    const known = warnings.get(warning.reason);
    warnings.set(warning.reason, known ? { ...known, count: known.count + warning.count } : warning);
  }

  /**
   * During the day only full batches are stored and counted, so that the sums hold after every transaction.
   */
  async function store(isLast: boolean): Promise<void> {
    const batches = [...batching.posted.takeBatches({ isLast }), ...batching.file.takeBatches({ isLast })];
    const chunk = {
      batches: batches.map(({ rows, ...batch }) =>
        rows.some((row) => row !== null) ? { ...batch, extraColumns: { labels: extraLabels, rows } } : batch,
      ),
      rejects,
      duplicates,
      filtered,
      warnings: [...warnings.values()],
    };
    rejects = [];
    duplicates = 0;
    filtered = 0;
    warnings.clear();
    await collect.store(chunk);
  }

  function isFull(): boolean {
    return batching.posted.ready + batching.file.ready + rejects.length >= bookingsPerTransaction;
  }

  function countProvider(name: string | undefined): void {
    if (name === undefined) return;
    const count = providers.get(name) ?? 0;
    if (count > 0 || providers.size <= maxProviders) providers.set(name, count + 1);
  }

  async function takeLines({ extraColumns, ...lines }: RenderedChunk['lines']): Promise<void> {
    const block = blockOf(
      Buffer.from(lines.bytes.buffer, lines.bytes.byteOffset, lines.bytes.byteLength),
      lines.ends,
    );
    extraLabels = extraColumns?.labels ?? extraLabels;
    for (let index = 0; index < lines.providers.length; index += 1) {
      const stream = batchStreams[lines.streams[index] ?? 0] ?? 'posted';
      const keys = {
        referenceHash: lines.referenceHashes[index] ?? noReference,
        hotelHash: lines.hotelHashes[index] ?? noHotel,
        lastDay: lines.lastDays[index] ?? unknownLastDay,
      };
      const wasDelivered = delivered !== undefined && (await delivered.has(block, index));
      const taken = !wasDelivered && batching[stream].take(block, index, keys, extraColumns?.rows[index]);
      // Avoids millions of awaits: only duplicate candidates return a promise.
      const isNew = typeof taken === 'boolean' ? taken : await taken;
      // What was delivered before belongs to the day's volume too.
      if (isNew || delivered) countProvider(lines.providers[index]);
      if (isNew || wasDelivered) source?.add(lineOf(block, index).toString());
      if (!isNew) {
        duplicates += 1;
        continue;
      }
      const lacks = lines.lacking[index] ?? 0;
      lacking[lacks] = (lacking[lacks] ?? 0) + 1;
      if (isFull()) await store(false);
    }
  }

  return {
    warn,
    counts,
    /** What the columns of `source.where` held; undefined without any, or without a record. */
    get where() {
      return where;
    },
    /** How many accepted bookings lack nothing, their provider, its hotel id, and both. */
    lacking,
    get accepted() {
      return {
        posted: batching.posted.accepted,
        file: batching.file.accepted,
        carried: batching.file.carried,
      };
    },
    /** Bookings by provider, with those that were delivered before; null if there are too many providers to count. */
    get providers(): Readonly<Record<string, number>> | null {
      return providers.size > maxProviders ? null : Object.fromEntries(providers);
    },
    /** A number of the accepted booking with that line; compares hashes only. */
    find(block: LineBlock, index: number): number | undefined {
      for (const [at, stream] of batchStreams.entries()) {
        const position = batching[stream].find(block, index);
        if (position !== undefined) return batchStreams.length * position + at;
      }
      return undefined;
    },
    storeRest: () => store(true),
    /** A review file covers the whole day, so earlier deliveries follow the new bookings: carried, not accepted. */
    async addDelivered(isSuperseded: (booking: Booking) => boolean): Promise<void> {
      if (!delivered || batching.file.accepted === 0) return;
      batching.file.startCarrying();
      for await (const chunk of delivered.ofFile()) {
        for (const [index, booking] of chunk.bookings.entries()) {
          if (isSuperseded(booking)) continue;
          const keys = {
            referenceHash: hashReference(booking.bookingReferenceId),
            ...findStayKey(booking, day),
          };
          if ((await batching.file.take(chunk, index, keys)) && isFull()) await store(false);
        }
      }
    },
    async take(chunk: RenderedChunk): Promise<void> {
      counts.read += chunk.read;
      counts.rejected += chunk.rejects.length;
      counts.filtered += chunk.filtered;
      filtered += chunk.filtered;
      rejects = rejects.concat(chunk.rejects);
      chunk.warnings.forEach(warn);
      where = chunk.where ?? where;
      addDates(counts.dates, chunk.dates);
      await takeLines(chunk.lines);
      if (isFull()) await store(false);
    },
  };
}

const lineFeed = 0x0a;
/** Initial capacity per line of a batch. */
const expectedLineBytes = 120;

/**
 * Groups the lines of one stream into batches and detects exact duplicates.
 *
 * Two bookings are the same if all their normalised fields are equal, that is, if their lines are. Lines stay bytes:
 * hashing bytes is four times as fast as hashing strings.
 */
export function createBatcher(
  stream: BatchStream,
  batchSize: number,
  holds: Collect['holds'],
  memory = createLineIndex(),
) {
  /** Lines that share a hash with a different line: hardly ever any. */
  const collided = new Set<string>();
  /** The current batch. */
  const lines = createLineBuffer(batchSize * expectedLineBytes);
  let columns = createColumns();
  let taken = 0;
  let carried = 0;
  let isCarrying = false;
  /** Full batches that are not stored yet, and the number of the first of them. */
  let whole: Batch[] = [];
  let firstWaiting = 0;

  function add(block: LineBlock, index: number, keys: BookingKeys, row: ExtraRow): true {
    lines.constant(block.bytes.subarray(startOf(block, index), (block.ends[index] ?? 0) + 1));
    columns.referenceHashes.push(keys.referenceHash);
    columns.stays.hotelHashes.push(keys.hotelHash);
    columns.stays.lastDays.push(keys.lastDay);
    columns.rows.push(row);
    taken += 1;
    if (isCarrying) {
      carried += 1;
      columns.carried += 1;
    }
    if (taken % batchSize === 0) whole.push(finish());
    return true;
  }

  function finish(): Batch {
    const batch = { stream, number: firstWaiting + whole.length, lines: lines.handOver(), ...columns };
    columns = createColumns();
    return batch;
  }

  async function isHeldAt(position: number, line: Buffer): Promise<boolean> {
    const number = Math.floor(position / batchSize);
    if (number < firstWaiting) return holds(stream, number, line);
    const batch = whole[number - firstWaiting]?.lines ?? lines.written();
    return findLine(batch, position % batchSize).equals(line);
  }

  async function isDuplicate(earlier: number, line: Buffer): Promise<boolean> {
    if (await isHeldAt(earlier, line)) return true;
    const text = line.toString();
    if (collided.has(text)) return true;
    collided.add(text);
    return false;
  }

  return {
    get accepted(): number {
      return taken - carried;
    },
    get carried(): number {
      return carried;
    },
    /** What follows was delivered before. */
    startCarrying(): void {
      isCarrying = true;
    },
    /** The number of bookings in full batches, ready to be stored. */
    get ready(): number {
      return whole.length * batchSize;
    },
    /**
     * Takes a line of a block. Returns false for a duplicate. Only candidates for these need a promise.
     *
     * @param row the booking's extra columns
     */
    take(
      block: LineBlock,
      index: number,
      keys: BookingKeys,
      row: ExtraRow = null,
    ): boolean | Promise<boolean> {
      const earlier = memory.findOrRemember(block, index, taken);
      if (earlier === undefined) return add(block, index, keys, row);
      return isDuplicate(earlier, lineOf(block, index)).then((is) => !is && add(block, index, keys, row));
    },
    /** The position of an accepted line with the same hash. */
    find: memory.find,
    /** Hands out the full batches; at the end also the last one, which may be short. */
    takeBatches({ isLast }: { readonly isLast: boolean }) {
      if (isLast && lines.length > 0) whole.push(finish());
      const batches = whole;
      firstWaiting += batches.length;
      whole = [];
      return batches;
    },
  };
}

/** With the extra columns of its bookings. */
type Batch = CollectedBatch & { readonly rows: readonly ExtraRow[] };

/** What a batch knows of its lines, one entry per line. */
function createColumns() {
  const stays = { hotelHashes: [] as number[], lastDays: [] as number[] };
  return { referenceHashes: [] as number[], stays, rows: [] as ExtraRow[], carried: 0 };
}

/** Walks to the line with that index. Candidates are few. */
function findLine(lines: Buffer, index: number): Buffer {
  let start = 0;
  for (let passed = 0; passed < index; passed += 1) start = lines.indexOf(lineFeed, start) + 1;
  return lines.subarray(start, lines.indexOf(lineFeed, start));
}

import {
  findStayKey,
  hashReference,
  noHotel,
  noReference,
  unknownLastDay,
} from '../../booking/booking-keys.js';
import { type Collect, type ReasonCount, type Reject, rejectsListed } from '../../ledger/collecting.js';
import { type BookingForm, bookingForms } from '../../ledger/step.js';
import { readBooking } from '../stored/stored-line.js';
import { createBatcher, type LineBlock, lineOf } from './batcher.js';
import type { RenderedChunk } from './day-reader.js';
import type { DeliveredIndex } from './delivered-lines.js';

/** More names than this can't be providers: the column holds something else. */
export const maxProviders = 1_000;

/** Bookings per transaction: enough to make the commit negligible, few enough that nobody waits for it. */
const bookingsPerTransaction = 5_000;

/** Takes a day's chunks in order and stores new bookings in transactions. */
export function createBookingStore(
  { batchSize }: { readonly batchSize: number },
  collect: Pick<Collect, 'store' | 'holds'>,
  known?: DeliveredIndex,
) {
  const batching = {
    body: createBatcher('body', batchSize, collect),
    file: createBatcher('file', batchSize, collect),
  };
  const providers = new Map<string, number>();
  let keptLabels: readonly string[] = [];
  /** How many accepted bookings lack each sum of `lacksProvider` and `lacksHotelId`. */
  const lacking = [0, 0, 0, 0];
  const dates = { given: 0, unreadable: 0 };
  const warnings = new Map<ReasonCount['reason'], { count: number; readonly firstPlace?: number }>();
  let rejects: Reject[] = [];
  let read = 0;
  let rejected = 0;
  let duplicates = 0;
  /** In all, and those that no transaction has stored yet. */
  let allFiltered = 0;
  let filtered = 0;

  function warn({ reason, count, ...first }: ReasonCount): void {
    const warning = warnings.get(reason);
    if (warning) warning.count += count;
    else warnings.set(reason, { count, ...first });
  }

  /**
   * During the day only full batches are stored and counted, so that the sums hold after every transaction.
   */
  async function store(isLast: boolean): Promise<void> {
    const batches = [...batching.body.takeBatches({ isLast }), ...batching.file.takeBatches({ isLast })];
    const chunk = {
      batches: batches.map(({ rows, ...batch }) =>
        rows.some((row) => row !== null) ? { ...batch, kept: { labels: keptLabels, rows } } : batch,
      ),
      rejects,
      duplicates,
      filtered,
      warnings: [...warnings].map(([reason, counted]) => ({ reason, ...counted })),
    };
    rejects = [];
    duplicates = 0;
    filtered = 0;
    warnings.clear();
    await collect.store(chunk);
  }

  function isFull(): boolean {
    return batching.body.ready + batching.file.ready + rejects.length >= bookingsPerTransaction;
  }

  function countProvider(name: string | undefined): void {
    if (name === undefined) return;
    const count = providers.get(name) ?? 0;
    if (count > 0 || providers.size <= maxProviders) providers.set(name, count + 1);
  }

  async function takeLines({ lines }: RenderedChunk): Promise<void> {
    const { ends, forms, keys, kept } = lines;
    const { buffer, byteOffset, byteLength } = lines.bytes;
    const block: LineBlock = {
      bytes: Buffer.from(buffer, byteOffset, byteLength),
      view: new DataView(buffer, byteOffset, byteLength),
      ends,
    };
    keptLabels = kept?.labels ?? keptLabels;
    for (let index = 0; index < ends.length; index += 1) {
      const form = bookingForms[forms[index] ?? 0] ?? 'body';
      const key = {
        referenceHash: keys.referenceHashes[index] ?? noReference,
        hotelHash: keys.hotelHashes[index] ?? noHotel,
        lastDay: keys.lastDays[index] ?? unknownLastDay,
      };
      const isKnown = known !== undefined && (await known.has(form, block, index));
      const taken = !isKnown && batching[form].take(block, index, key, kept?.rows[index]);
      // Avoids millions of awaits: only duplicate candidates return a promise.
      const isNew = typeof taken === 'boolean' ? taken : await taken;
      // What was delivered before belongs to the day's volume too.
      if (isNew || known) countProvider(lines.providers[index]);
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
    dates,
    lacking,
    get read() {
      return read;
    },
    get rejected() {
      return rejected;
    },
    get filtered() {
      return allFiltered;
    },
    get accepted() {
      return { body: batching.body.accepted, file: batching.file.accepted };
    },
    /** Bookings by provider, with those that were delivered before; null if there are too many providers to count. */
    get providers(): Readonly<Record<string, number>> | null {
      return providers.size > maxProviders ? null : Object.fromEntries(providers);
    },
    /** A number of the accepted booking with that line; compares hashes only. */
    find(form: BookingForm, block: LineBlock, index: number): number | undefined {
      const position = batching[form].find(block, index);
      return position === undefined ? undefined : bookingForms.length * position + bookingForms.indexOf(form);
    },
    storeRest: () => store(true),
    /** A review file covers the whole day, so earlier deliveries follow the new bookings. */
    async addKnown(): Promise<void> {
      if (!known || batching.file.accepted === 0) return;
      for await (const chunk of known.ofFile()) {
        for (const [index, form] of chunk.forms.entries()) {
          if (form !== 'file') continue;
          const booking = readBooking(lineOf(chunk, index).toString(), form);
          const referenceHash = hashReference(booking.bookingReferenceId);
          const key = { referenceHash, ...findStayKey(booking) };
          if ((await batching.file.take(chunk, index, key)) && isFull()) await store(false);
        }
      }
    },
    async take(chunk: RenderedChunk): Promise<void> {
      read += chunk.read;
      // Beyond what is ever listed, a broken export of millions of records must not fill the ledger with its values.
      const listable = Math.max(0, rejectsListed - rejected);
      rejected += chunk.rejects.length;
      allFiltered += chunk.filtered;
      filtered += chunk.filtered;
      rejects = rejects.concat(
        chunk.rejects.map((reject, at) => (at < listable ? reject : withoutCause(reject))),
      );
      chunk.warnings.forEach(warn);
      dates.given += chunk.dates.given;
      dates.unreadable += chunk.dates.unreadable;
      await takeLines(chunk);
      if (isFull()) await store(false);
    },
  };
}

function withoutCause({ place, reason, reference }: Reject): Reject {
  return { place, reason, ...(reference !== undefined && { reference }) };
}
export type BookingStore = ReturnType<typeof createBookingStore>;

import type { RawBooking, ServiceField } from '../../booking/booking.js';
import { type BookingKeys, findStayKey, hashReference } from '../../booking/booking.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { readExtraValue } from '../../booking/extra-values.js';
import { readField } from '../../booking/field-text.js';
import {
  addDates,
  countDates,
  type Normalise,
  type NormaliserFor,
  noDates,
} from '../../booking/normalise.js';
import { describeCause, hashCells, listCells, type RejectCause } from '../../booking/record-cells.js';
import { createLineBuffer, createPlainRenderer, renderLine } from '../../booking/render-line.js';
import {
  type BatchStream,
  batchStreams,
  listFileObstacles,
  type Sending,
  streamOf,
  usualStream,
  writeNames,
} from '../../booking/sending.js';
import type { BookingSource, SourceChunk, SourceReading, SourceRecord } from '../../booking/source.js';
import { decidingRecords } from '../../booking/written-date.js';
import type { ExtraRow } from '../../ledger/batches.js';
import { createErasedTest, type ErasedGuests } from '../../ledger/guests.js';
import { type ReasonCount, type Reject, rejectsListed } from '../../ledger/rejects.js';

/** Reads a day as the lines to be stored: source, normaliser and renderer combined. */
export type DayReader = ReturnType<typeof createDayReader>;

/** Reads in the current thread. */
export function createDayReader({
  source,
  normaliserFor,
  extraLabels = [],
}: {
  readonly source: BookingSource;
  readonly normaliserFor: NormaliserFor;
  /** The names of the columns that the source's records have as `extraValues`; none by default. */
  readonly extraLabels?: readonly string[];
}) {
  return {
    locate: (day: BusinessDay) => source.locate(day),
    placeUnit: source.placeUnit,
    /**
     * @param options.erased whose bookings are read without the name
     * @throws SourceError; the signal's reason when aborted
     */
    async *read(
      day: BusinessDay,
      sending: Sending,
      { signal, erased }: { readonly signal: AbortSignal; readonly erased?: ErasedGuests | undefined },
    ): AsyncGenerator<RenderedChunk, void, undefined> {
      let render: ReturnType<typeof createChunkRenderer> | undefined;
      for await (const { chunk, normalise } of readNormalised(source, day, normaliserFor, { signal })) {
        render ??= createChunkRenderer(day.iso, normalise, sending, extraLabels, erased);
        yield render(chunk);
      }
    },
  };
}

/** Reads a day's chunks, each with the normaliser that the day's first records call for. */
export async function* readNormalised(
  source: BookingSource,
  day: BusinessDay,
  normaliserFor: NormaliserFor,
  reading: SourceReading,
) {
  const deciding = Math.min(decidingRecords, reading.atMost ?? decidingRecords);
  const held: SourceChunk[] = [];
  let normalise: Normalise | undefined;
  let records = 0;

  function* release() {
    const chunks = held.splice(0);
    normalise ??= normaliserFor(day, () => listFirst(chunks));
    for (const chunk of chunks) yield { chunk, normalise };
  }

  try {
    for await (const chunk of source.read(day, reading)) {
      held.push(chunk);
      records += chunk.records.length + (chunk.filtered ?? 0);
      if (records >= deciding) yield* release();
    }
  } catch (error) {
    // What was read before the source failed counts, as it would have without waiting.
    if (!reading.signal.aborted) yield* release();
    throw error;
  }
  yield* release();
}

function listFirst(chunks: readonly SourceChunk[]): RawBooking[] {
  const first: RawBooking[] = [];
  for (const { records } of chunks) {
    for (const record of records.slice(0, decidingRecords - first.length))
      if ('fields' in record) first.push(record.fields);
  }
  return first;
}

const lineFeed = Buffer.from('\n');
/** Initial capacity per line of a chunk. */
const expectedLineBytes = 128;
/**
 * Limit for the reference kept of a rejected record, in UTF-16 units: broken records may contain anything.
 */
const maxReferenceLength = 200;
/** A booking without a provider. */
const lacksProvider = 1;
/** A booking without its provider's hotel id. */
const lacksHotelId = 2;

/** A source's chunk, rendered. Plain data, so that it can be sent between threads. */
export type RenderedChunk = ReturnType<ReturnType<typeof createChunkRenderer>>;

/**
 * Creates the function that normalises a chunk's records and renders each booking as the line that will be stored.
 */
function createChunkRenderer(
  day: string,
  normalise: Normalise,
  sending: Sending,
  extraLabels: readonly string[],
  erasedGuests: ErasedGuests | undefined,
) {
  const erased = erasedGuests && createErasedTest(erasedGuests);
  /** Of the whole day. */
  let rejected = 0;
  const { names } = sending;
  const usual = usualStream(sending);
  const renderPlain = createPlainRenderer(normalise, { names, mayLackFields: usual.mayLackFields });
  return ({ records, filtered = 0, ...unchanged }: SourceChunk) => {
    const buffer = createLineBuffer(records.length * expectedLineBytes);
    const ends = new Uint32Array(records.length);
    const streams = new Uint8Array(records.length);
    const referenceHashes = new Uint32Array(records.length);
    const hotelHashes = new Uint32Array(records.length);
    const lastDays = new Uint16Array(records.length);
    const lacking = new Uint8Array(records.length);
    const providers: (string | undefined)[] = [];
    const extraRows: ExtraRow[] = [];
    const rejects: Reject[] = [];
    const warnings = new Map<ReasonCount['reason'], { count: number; readonly firstPlace: number }>();
    const dates = noDates();
    const obstacles = new Map<ServiceField, number>();

    function warn(reason: ReasonCount['reason'], firstPlace: number): void {
      const warning = warnings.get(reason);
      if (warning) warning.count += 1;
      else warnings.set(reason, { count: 1, firstPlace });
    }

    /** Columns are easily mixed up, so any value of a broken record may be a name. */
    function reject(
      { place, fields, whole = fields }: Extract<SourceRecord, { readonly fields: RawBooking }>,
      reason: Reject['reason'],
      { field, value }: RejectCause,
    ): void {
      rejected += 1;
      const isListed = rejected <= rejectsListed;
      const cells = isListed || erased ? listCells(whole) : undefined;
      const found = { place, reason, ...(field !== undefined && { field }) };
      if (erased && (!cells || [...cells].some(erased.isReference))) {
        rejects.push(found);
        return;
      }
      const text = readField('code', fields.BookingReferenceId, normalise.placeholders);
      // The cut may split a surrogate pair.
      const reference =
        typeof text === 'string' ? text.slice(0, maxReferenceLength).toWellFormed() : undefined;
      rejects.push({
        ...found,
        ...(reference !== undefined && { reference }),
        // A broken export of millions of records must not fill the ledger, and values that no erasure could find are not kept.
        ...(isListed && cells && { ...(value !== undefined && { value }), cells: hashCells(cells) }),
      });
    }

    function addLine(
      stream: BatchStream,
      line: BookingKeys & {
        readonly provider: string | undefined;
        readonly hasHotelId: boolean;
      },
      extraValues: readonly unknown[] = [],
    ): void {
      const at = providers.push(line.provider) - 1;
      ends[at] = buffer.length;
      streams[at] = batchStreams.indexOf(stream);
      referenceHashes[at] = line.referenceHash;
      hotelHashes[at] = line.hotelHash;
      lastDays[at] = line.lastDay;
      lacking[at] = (line.provider === undefined ? lacksProvider : 0) + (line.hasHotelId ? 0 : lacksHotelId);
      if (extraLabels.length > 0) {
        const row = extraLabels.map((_, index) => readExtraValue(extraValues[index]) ?? null);
        extraRows.push(row.every((value) => value === null) ? null : row);
      }
      buffer.constant(lineFeed);
    }

    for (const record of records) {
      const { place } = record;
      if ('unreadable' in record) {
        rejected += 1;
        rejects.push({ place, reason: record.unreadable });
        continue;
      }
      const before = buffer.length;
      const plain = record.cells && renderPlain(record.cells, buffer);
      if (plain && !erased?.mayBe(plain.referenceHash)) {
        addDates(dates, plain.dates);
        addLine(usual.stream, plain, record.extraValues);
        continue;
      }
      buffer.extendTo(before);
      const { fields } = record;
      const normalised = normalise(fields);
      if (normalised.kind === 'reject') {
        reject(record, normalised.reason, describeCause(fields, normalised.field));
        continue;
      }
      const { warnings: found } = normalised;
      const isErased = erased?.is(normalised.booking) ?? false;
      const booking = writeNames(normalised.booking, isErased ? 'omit' : names);
      addDates(dates, countDates(booking, found));
      for (const warning of found) warn(warning, place);
      // An erased guest's booking is reviewed, whatever `incomplete` says.
      const stream = streamOf(booking, sending) ?? (isErased ? 'posted' : undefined);
      const missing =
        sending.kind === 'file' ? listFileObstacles(booking, sending).map(({ field }) => field) : [];
      if (stream === undefined) {
        const cause = missing[0] === undefined ? {} : describeCause(fields, missing[0]);
        reject(record, 'not-for-the-file', cause);
        continue;
      }
      for (const field of missing) obstacles.set(field, (obstacles.get(field) ?? 0) + 1);
      renderLine(booking, buffer);
      const { bookingReferenceId, providerName: provider, providerHotelId } = booking;
      const keys = { referenceHash: hashReference(bookingReferenceId), ...findStayKey(booking, day) };
      const line = { ...keys, provider, hasHotelId: providerHotelId !== undefined };
      addLine(stream, line, isErased ? undefined : record.extraValues);
    }

    return {
      ...unchanged,
      /** The number of records: lines, rejects and filtered ones. */
      read: records.length + filtered,
      filtered,
      /** Bookings as they are stored, in the source's order. Of each array, as many entries count as there are providers. */
      lines: {
        /** The lines, each ended by a line feed. */
        bytes: buffer.handOver(),
        /** The offset of each line's line feed. */
        ends,
        /** The stream of each line, as an index into `batchStreams`. */
        streams,
        referenceHashes,
        hotelHashes,
        lastDays,
        providers,
        /** What each line lacks of its provider hotel: nothing, the provider, its hotel id, or both. */
        lacking,
        /** With a row for each line; absent if there are no extra columns. */
        ...(extraLabels.length > 0 && { extraColumns: { labels: extraLabels, rows: extraRows } }),
      },
      rejects,
      warnings: [...warnings].map(([reason, counted]): ReasonCount => ({ reason, ...counted })),
      dates,
      /** Of a delivery by file: how many of the bookings to be posted each field keeps out of the file. */
      obstacles,
    };
  };
}

import type { ServiceField } from '../../booking/booking.js';
import { type BookingKeys, findStayKey, hashReference } from '../../booking/booking-keys.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { readField } from '../../booking/field-text.js';
import { writeNames } from '../../booking/guest-names.js';
import { readKeptValue } from '../../booking/kept-values.js';
import { countDates, type Normalise, type NormaliserFor } from '../../booking/normalise.js';
import { describeCause, findRejectCause, type RejectCause } from '../../booking/reject-cause.js';
import type { ReasonCount, Reject } from '../../ledger/collecting.js';
import type { KeptColumns, KeptRow } from '../../ledger/kept-columns.js';
import { bookingForms } from '../../ledger/step.js';
import type { BookingForms } from '../delivery.js';
import { createErasedTest, type ErasedGuests } from '../erasures.js';
import { createLineBuffer } from '../line-buffer.js';
import { readNormalised } from '../normalised-chunks.js';
import type { BookingSource, SourceChunk } from '../source.js';
import { createPlainRenderer } from './plain-bookings.js';

/** Reads a day as the lines to be stored: source, normaliser and forms combined. */
export interface DayReader extends Pick<BookingSource, 'locate' | 'placeUnit'> {
  /**
   * @param options.erased whose bookings are read without the name
   * @throws SourceError; the signal's reason when aborted
   */
  read(
    day: BusinessDay,
    forms: BookingForms,
    options: { readonly signal: AbortSignal; readonly erased?: ErasedGuests | undefined },
  ): AsyncIterable<RenderedChunk>;
}

/** Reads in the current thread. */
export function createDayReader({
  source,
  normaliserFor,
  keptLabels = [],
}: {
  readonly source: BookingSource;
  readonly normaliserFor: NormaliserFor;
  /** The names of the columns that the source's records have as `kept`; none by default. */
  readonly keptLabels?: readonly string[];
}): DayReader {
  return {
    locate: (day) => source.locate(day),
    placeUnit: source.placeUnit,
    async *read(day, forms, { signal, erased }) {
      let render: ReturnType<typeof createChunkRenderer> | undefined;
      for await (const { chunk, normalise } of readNormalised(source, day, normaliserFor, { signal })) {
        render ??= createChunkRenderer(normalise, forms, keptLabels, erased);
        yield render(chunk);
      }
    },
  };
}

const lineFeed = Buffer.from('\n');
/** Initial capacity per line of a chunk. */
const expectedLineBytes = 128;
/**
 * Limit for the reference kept of a rejected record, in UTF-16 units: broken records may contain anything.
 */
const maxReferenceLength = 200;

/** A source's chunk, rendered. Plain data, so that it can be sent between threads. */
export interface RenderedChunk {
  /** The number of records: lines, rejects and filtered ones. */
  readonly read: number;
  readonly filtered: number;
  readonly lines: RenderedLines;
  readonly rejects: readonly Reject[];
  readonly warnings: readonly ReasonCount[];
  readonly dates: { readonly given: number; readonly unreadable: number };
  /** Of a delivery by file: how many of the bookings to be posted each field keeps out of the file. */
  readonly obstacles?: ReadonlyMap<ServiceField, number>;
  readonly progress?: SourceChunk['progress'];
  readonly notices?: SourceChunk['notices'];
}

/** Bookings as they are stored, one line each, in the source's order. The arrays have one entry per line. */
export interface RenderedLines {
  /** The lines, each ended by a line feed. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The offset of each line's line feed. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** The form of each line, as an index into `bookingForms`. */
  readonly forms: Uint8Array<ArrayBuffer>;
  /** The `BookingKeys` of each line. */
  readonly keys: {
    readonly referenceHashes: Uint32Array<ArrayBuffer>;
    readonly hotelHashes: Uint32Array<ArrayBuffer>;
    readonly lastDays: Uint16Array<ArrayBuffer>;
  };
  readonly providers: readonly (string | undefined)[];
  /** What each line lacks of its provider hotel: a sum of `lacksProvider` and `lacksHotelId`. */
  readonly lacking: Uint8Array<ArrayBuffer>;
  /** With a row for each line; absent if no columns are kept. */
  readonly kept?: KeptColumns;
}

/** A booking without a provider. */
export const lacksProvider = 1;
/** A booking without its provider's hotel id. */
export const lacksHotelId = 2;

/**
 * Creates the function that normalises a chunk's records and renders each booking as the line that will be sent.
 */
function createChunkRenderer(
  normalise: Normalise,
  { formOf, render, listObstacles, names, usual }: BookingForms,
  keptLabels: readonly string[],
  erasedGuests: ErasedGuests | undefined,
) {
  const erased = erasedGuests && createErasedTest(erasedGuests);
  const renderPlain = usual && createPlainRenderer(normalise, usual, names);
  // Columns are easily mixed up, so any value of a broken record may be a name.
  const keepCause = ({ field, value }: RejectCause): RejectCause => ({
    ...(field !== undefined && { field }),
    ...(value !== undefined && names === 'send' && { value }),
  });
  const keepsColumns = keptLabels.length > 0;
  const usualForm = usual ? bookingForms.indexOf(usual.form) : 0;
  return ({ records, filtered = 0, progress, notices }: SourceChunk): RenderedChunk => {
    const buffer = createLineBuffer(records.length * expectedLineBytes);
    const ends = new Uint32Array(records.length);
    const forms = new Uint8Array(records.length);
    const referenceHashes = new Uint32Array(records.length);
    const hotelHashes = new Uint32Array(records.length);
    const lastDays = new Uint16Array(records.length);
    const providers: (string | undefined)[] = [];
    const lacking = new Uint8Array(records.length);
    let lines = 0;
    const keptRows: KeptRow[] = [];
    const rejects: Reject[] = [];
    const warnings = new Map<ReasonCount['reason'], { count: number; readonly firstPlace: number }>();
    const dates = { given: 0, unreadable: 0 };
    const obstacles = new Map<ServiceField, number>();

    function warn(reason: ReasonCount['reason'], firstPlace: number): void {
      const warning = warnings.get(reason);
      if (warning) warning.count += 1;
      else warnings.set(reason, { count: 1, firstPlace });
    }

    function addLine(
      form: number,
      keys: BookingKeys,
      { provider, hasHotelId }: { readonly provider: string | undefined; readonly hasHotelId: boolean },
      kept: readonly unknown[] = [],
    ): void {
      ends[lines] = buffer.length;
      forms[lines] = form;
      referenceHashes[lines] = keys.referenceHash;
      hotelHashes[lines] = keys.hotelHash;
      lastDays[lines] = keys.lastDay;
      providers.push(provider);
      lacking[lines] = (provider === undefined ? lacksProvider : 0) + (hasHotelId ? 0 : lacksHotelId);
      if (keepsColumns) {
        const row = keptLabels.map((_, index) => readKeptValue(kept[index]) ?? null);
        keptRows.push(row.every((value) => value === null) ? null : row);
      }
      lines += 1;
      buffer.constant(lineFeed);
    }

    for (const record of records) {
      const { place } = record;
      if ('unreadable' in record) {
        rejects.push({ place, reason: record.unreadable });
        continue;
      }
      const before = buffer.length;
      const plain = record.cells && renderPlain?.(record.cells, buffer);
      if (plain && erased?.mayBe(plain.referenceHash)) buffer.extendTo(before);
      else if (plain) {
        dates.given += plain.dates;
        addLine(usualForm, plain, plain, record.kept);
        continue;
      }
      const normalised = normalise(record.fields);
      if (normalised.kind === 'reject') {
        const cause = keepCause(findRejectCause(record.fields, normalised.reason));
        rejects.push(toReject(place, normalised.reason, record.fields.BookingReferenceId, cause));
        continue;
      }
      const { warnings: found } = normalised;
      const isErased = erased?.is(normalised.booking) ?? false;
      const booking = writeNames(normalised.booking, isErased ? 'omit' : names);
      const { given, unreadable } = countDates(booking, found);
      dates.given += given;
      dates.unreadable += unreadable;
      for (const warning of found) warn(warning, place);
      // An erased guest's booking is reviewed, whatever `incomplete` says.
      const form = formOf(booking) ?? (isErased ? 'body' : undefined);
      if (form === undefined) {
        const [field] = listObstacles?.(booking) ?? [];
        const cause = field === undefined ? {} : keepCause(describeCause(record.fields, field));
        rejects.push(toReject(place, 'not-for-the-file', booking.bookingReferenceId, cause));
        continue;
      }
      if (form === 'body')
        for (const field of listObstacles?.(booking) ?? [])
          obstacles.set(field, (obstacles.get(field) ?? 0) + 1);
      render(booking, form, buffer);
      const keys = { referenceHash: hashReference(booking.bookingReferenceId), ...findStayKey(booking) };
      const { providerName: provider, providerHotelId } = booking;
      const hasHotelId = providerHotelId !== undefined;
      const kept = isErased ? undefined : record.kept;
      addLine(bookingForms.indexOf(form), keys, { provider, hasHotelId }, kept);
    }

    return {
      read: records.length + filtered,
      filtered,
      lines: {
        bytes: buffer.handOver(),
        ends: ends.subarray(0, lines),
        forms: forms.subarray(0, lines),
        keys: {
          referenceHashes: referenceHashes.subarray(0, lines),
          hotelHashes: hotelHashes.subarray(0, lines),
          lastDays: lastDays.subarray(0, lines),
        },
        providers,
        lacking: lacking.subarray(0, lines),
        ...(keepsColumns && { kept: { labels: keptLabels, rows: keptRows } }),
      },
      rejects,
      warnings: [...warnings].map(([reason, counted]) => ({ reason, ...counted })),
      dates,
      ...(obstacles.size > 0 && { obstacles }),
      ...(progress && { progress }),
      ...(notices && { notices }),
    };
  };
}

/** Keeps the reference of a rejected record, if readable, so that the record can be found again. */
function toReject(place: number, reason: Reject['reason'], value: unknown, cause: RejectCause): Reject {
  const text = readField('code', value);
  if (typeof text !== 'string') return { place, reason, ...cause };
  // The cut may split a surrogate pair.
  return { place, reason, reference: text.slice(0, maxReferenceLength).toWellFormed(), ...cause };
}

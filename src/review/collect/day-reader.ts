import type { BusinessDay } from '../../booking/business-day.js';
import { readFieldText } from '../../booking/field-text.js';
import { countDates, type Normalise } from '../../booking/normalise.js';
import { hashReference } from '../../booking/reference-hash.js';
import type { ReasonCount, Reject } from '../collected.js';
import type { BookingForms } from '../delivery.js';
import { createLineBuffer, type TakeBuffer } from '../lines/line-buffer.js';
import type { BookingSource, SourceChunk } from '../source.js';
import { bookingForms } from '../step.js';

/** Reads a day as the lines that are to be kept: source, normaliser and the delivery's forms in one. */
export interface DayReader extends Pick<BookingSource, 'locate' | 'placeUnit'> {
  /** @throws SourceError; the signal's reason when stopped */
  read(
    day: BusinessDay,
    forms: BookingForms,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<RenderedChunk>;
}

/** Reads in this thread. */
export function createDayReader({
  source,
  normalise,
  takeBuffer,
}: {
  readonly source: BookingSource;
  readonly normalise: Normalise;
  /** Where lines are rendered; in new memory if not given. */
  readonly takeBuffer?: TakeBuffer;
}): DayReader {
  return {
    locate: (day) => source.locate(day),
    placeUnit: source.placeUnit,
    async *read(day, forms, options) {
      const render = createChunkRenderer(normalise, forms, takeBuffer);
      for await (const chunk of source.read(day, options)) yield render(chunk);
    },
  };
}

const lineFeed = Buffer.from('\n');
/** Room for a line that a chunk begins with. */
const expectedLineBytes = 128;
/** What is kept of a rejected record's reference, in UTF-16 units: broken records hold all sorts of things. */
const maxReferenceLength = 200;

/** What came of a source's chunk. Plain data, which another thread can hand over. */
export interface RenderedChunk {
  /** Records: lines and rejects together. */
  readonly read: number;
  readonly lines: RenderedLines;
  readonly rejects: readonly Reject[];
  readonly warnings: readonly ReasonCount[];
  readonly dates: { readonly given: number; readonly unreadable: number };
  readonly progress?: SourceChunk['progress'];
  readonly notices?: SourceChunk['notices'];
}

/** Bookings as they are kept, a line each, in the source's order. The arrays have a place for each of them. */
export interface RenderedLines {
  /** The lines one after another, each ended by a line feed. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each line's line feed stands. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** The form of each, as its place in `bookingForms`. */
  readonly forms: Uint8Array<ArrayBuffer>;
  readonly referenceHashes: Uint32Array<ArrayBuffer>;
  /** Those, counted from 0, whose ServiceId was filled in; absent where there is none. */
  readonly filledIn?: ReadonlySet<number>;
}

export type Render = (chunk: SourceChunk) => RenderedChunk;

/** Makes the function that normalises a chunk's records and writes each booking as the line that will be sent. */
export function createChunkRenderer(
  normalise: Normalise,
  { formOf, render }: BookingForms,
  takeBuffer?: TakeBuffer,
): Render {
  return ({ records, progress, notices }) => {
    const buffer = createLineBuffer(records.length * expectedLineBytes, takeBuffer);
    const ends = new Uint32Array(records.length);
    const forms = new Uint8Array(records.length);
    const referenceHashes = new Uint32Array(records.length);
    let lines = 0;
    let filledIn: Set<number> | undefined;
    const rejects: Reject[] = [];
    const warnings = new Map<ReasonCount['reason'], { count: number; readonly firstPlace: number }>();
    const dates = { given: 0, unreadable: 0 };

    function warn(reason: ReasonCount['reason'], firstPlace: number): void {
      const warning = warnings.get(reason);
      if (warning) warning.count += 1;
      else warnings.set(reason, { count: 1, firstPlace });
    }

    for (const record of records) {
      const { place } = record;
      if ('unreadable' in record) {
        rejects.push({ place, reason: record.unreadable });
        continue;
      }
      const normalised = normalise(record.fields);
      if (normalised.kind === 'reject') {
        rejects.push(toReject(place, normalised.reason, record.fields.BookingReferenceId));
        continue;
      }
      const { booking, warnings: found } = normalised;
      const { given, unreadable } = countDates(booking, found);
      dates.given += given;
      dates.unreadable += unreadable;
      for (const warning of found) warn(warning, place);
      const form = formOf(booking);
      if (form === undefined) {
        rejects.push(toReject(place, 'not-for-the-file', booking.bookingReferenceId));
        continue;
      }
      render(booking, form, buffer);
      ends[lines] = buffer.length;
      forms[lines] = bookingForms.indexOf(form);
      referenceHashes[lines] = hashReference(booking.bookingReferenceId);
      if (record.isFilledIn) {
        filledIn ??= new Set();
        filledIn.add(lines);
      }
      lines += 1;
      buffer.constant(lineFeed);
    }

    return {
      read: records.length,
      lines: {
        bytes: buffer.handOver(),
        ends: ends.subarray(0, lines),
        forms: forms.subarray(0, lines),
        referenceHashes: referenceHashes.subarray(0, lines),
        ...(filledIn && { filledIn }),
      },
      rejects,
      warnings: [...warnings].map(([reason, counted]) => ({ reason, ...counted })),
      dates,
      ...(progress && { progress }),
      ...(notices && { notices }),
    };
  };
}

/** A rejected record is found again by its reference, where that at least can be read. */
function toReject(place: number, reason: Reject['reason'], value: unknown): Reject {
  const text = readFieldText(value);
  if (typeof text !== 'string') return { place, reason };
  // The cut may fall between the halves of a character.
  return { place, reason, reference: text.slice(0, maxReferenceLength).toWellFormed() };
}

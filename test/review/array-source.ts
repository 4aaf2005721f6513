import type { RawBooking } from '../../src/booking/booking.js';
import { createNormaliser } from '../../src/booking/normalise.js';
import type { BookingSource, SourceChunk, SourceRecord } from '../../src/booking/source.js';
import { createDayReader, type DayReader } from '../../src/review/collect/day-reader.js';

/** Chunks to deliver, and errors where the source fails. */
export type Script = Iterable<readonly SourceRecord[] | SourceChunk | Error>;

export interface ArraySource extends BookingSource {
  /** How many chunks were requested so far. */
  pulled(): number;
}

/** A source that delivers the given records, a chunk at a time. */
export function createArraySource(
  script: Script,
  { onPull = () => {} }: { onPull?: () => void } = {},
): ArraySource {
  let pulled = 0;
  return {
    placeUnit: 'record',
    locate: (day) => `the array of ${day.iso}`,
    measure: async () => undefined,
    pulled: () => pulled,
    async *read(_day, { signal }) {
      for (const part of script) {
        pulled += 1;
        onPull();
        signal.throwIfAborted();
        if (part instanceof Error) throw part;
        yield Array.isArray(part) ? { records: part } : (part as SourceChunk);
      }
    },
  };
}

/** Reads a source like a run with default settings. */
export function readerOf(source: BookingSource): DayReader {
  return createDayReader({ source, normaliserFor: () => createNormaliser() });
}

/** Bookings BR-<from> to BR-<from + count - 1>; each one's place is its number. */
export function records(from: number, count: number, fields: RawBooking = {}): SourceRecord[] {
  return Array.from({ length: count }, (_, index) => record(from + index, fields));
}

export function record(number: number, fields: RawBooking = {}): SourceRecord {
  return {
    place: number,
    fields: {
      ServiceId: 700_000 + number,
      BookingReferenceId: `BR-${number}`,
      BookingClientName: 'Ana Lovelace',
      ...fields,
    },
  };
}

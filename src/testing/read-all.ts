import type { RawBooking } from '../booking/booking.js';
import type { BusinessDay } from '../booking/business-day.js';
import type { BookingSource } from '../review/source.js';

export interface ReadRecord {
  readonly place: number;
  readonly fields: RawBooking;
}

/** Nobody stops such a reading. */
export const never = (): AbortSignal => new AbortController().signal;

/** @throws Error for a record that cannot be read */
export async function readAll(source: BookingSource, day: BusinessDay): Promise<ReadRecord[]> {
  const records: ReadRecord[] = [];
  for await (const chunk of source.read(day, { signal: never() })) {
    for (const record of chunk.records) {
      if ('unreadable' in record) throw new Error(`record ${record.place} is ${record.unreadable}`);
      records.push({ place: record.place, fields: withoutMissing(record.fields) });
    }
  }
  return records;
}

/** A source may hand a missing field over as absent, undefined, null or empty. */
function withoutMissing(fields: RawBooking): RawBooking {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  );
}

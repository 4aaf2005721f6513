import { equal, ok } from 'node:assert/strict';
import { vi } from 'vitest';
import type { RawBooking } from '../../../src/booking/booking.js';
import type { BusinessDay } from '../../../src/booking/business-day.js';
import { listCells } from '../../../src/booking/record-cells.js';
import type { BookingSource, SourceRecord } from '../../../src/booking/source.js';
import { patienceMs } from '../../support/patience.js';
import type { IntendedRecord, PreparedSource } from '../source.js';

export interface ReadRecord {
  readonly place: number;
  readonly fields: RawBooking;
}

/** A signal that never aborts. */
export const never = (): AbortSignal => new AbortController().signal;

/** @throws Error for a record that cannot be read */
export async function readAll(
  source: BookingSource,
  day: BusinessDay,
  signal = never(),
): Promise<ReadRecord[]> {
  const records: ReadRecord[] = [];
  for await (const chunk of source.read(day, { signal })) {
    for (const record of chunk.records) {
      if ('unreadable' in record) throw new Error(`record ${record.place} is ${record.unreadable}`);
      holdsAll(record);
      records.push({ place: record.place, fields: withoutMissing(record.fields) });
    }
  }
  return records;
}

/** What is erased is looked for in the whole record. */
function holdsAll({ whole, fields }: Extract<SourceRecord, { readonly fields: RawBooking }>): void {
  const cells = listCells(whole);
  for (const cell of listCells(fields) ?? []) ok(cells?.has(cell), `the whole record lacks ${cell}`);
}

/** A source may return a missing field as absent, undefined, null or empty. */
function withoutMissing(fields: RawBooking): RawBooking {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  );
}

/**
 * Waits for a moment at which nothing is open; closing takes a while. A second look right after that moment would prove
 * nothing: a database source may just have opened a connection to cancel its query.
 */
export async function assertReleased(held: PreparedSource['held']): Promise<void> {
  if (held === undefined) return;
  await vi.waitFor(async () => equal(await held(), 0, 'it still holds something open'), {
    timeout: patienceMs,
    interval: 20,
  });
}

/** Part of the guests' names. It must appear nowhere else. */
export const guest = 'Ann Guest-Canary';

/** Texts that formats and drivers often break. */
export function awkwardRecords(): IntendedRecord[] {
  return [
    { ServiceId: '1' },
    { ServiceId: '9007199254740991', ProviderHotelId: '000123' },
    { ServiceId: '3', BookingClientName: `${guest}, "the 1st"`, ProviderName: "O'Hara; DROP TABLE" },
    { ServiceId: '4', BookingClientName: 'two\nlines', BookingReferenceId: '"' },
    { ServiceId: '5', BookingClientName: 'Žofie 山田 𝒜 🏨', ProviderName: ' spaces around ' },
    { ServiceId: '6', BookingClientName: 'null', BookingReferenceId: '1e5', ProviderHotelId: '0x10' },
    { ServiceId: 'no number', CheckInDate: '20112026', CheckOutDate: '2026-02-31' },
    { ServiceId: '8', BookingReferenceId: '\\', ProviderHotelId: "a\tb\\n'" },
  ];
}

/** @param mark the prefix of every reference */
export function manyRecords(count: number, mark = 'BR'): IntendedRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    ServiceId: String(10_000_000 + index),
    BookingReferenceId: `${mark}-${index}`,
    BookingClientName: index % 7 === 0 ? `${guest}, ${index}` : `${guest} ${index}`,
    ProviderName: 'Provider',
    ProviderHotelId: `H${index}`,
    CheckInDate: '2026-11-20',
    CheckOutDate: '2026-11-24',
  }));
}

import type { ProviderHotel } from '../src/booking/booking.js';
import { countDays, hashProviderHotel, hashReference } from '../src/booking/booking.js';
import type { Ledger } from '../src/ledger/ledger.js';

export interface ManyDays {
  readonly days: number;
  readonly bookings: number;
}

const batchSize = 500;
const batchesPerTransaction = 10;
const firstDay = Date.UTC(2026, 9, 22);
const dayMs = 86_400_000;
const checkIn = countDays('2199-11-21');

/** The reference of the booking at that position of a day. */
export function referenceOf(day: number, place: number): string {
  return `BR-${day}-${place}`;
}

/** The provider hotel of the booking at that position of each day. */
export function hotelOf(place: number): ProviderHotel {
  return { providerName: `Provider ${place % 40}`, providerHotelId: `0${place}` };
}

/** The master hotel that it is booked as. */
export function bookedServiceId(place: number): number {
  return 1 + (place % 900_000);
}

/** Fills a ledger with days reviewed by file, through its port, with lines as a run would keep them. */
export async function fillLedger(ledger: Ledger, { days, bookings }: ManyDays): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    const at = firstDay + day * dayMs;
    const run = await ledger.runs.create({
      id: `run-${day}`,
      day: new Date(at).toISOString().slice(0, 10),
      delivery: 'file',
      trigger: 'manual',
      startedAt: at,
    });
    const right = { runId: run.id, token: run.token };
    const collect = await ledger.bookings.beginCollect(right, { source: 'bookings.csv', at, batchSize });
    for (let first = 0; first < bookings; first += batchSize * batchesPerTransaction) {
      const batches = Array.from({ length: batchesPerTransaction }, (_, index) =>
        batchOf(day, first / batchSize + index, bookings),
      );
      await collect.store({
        batches: batches.filter(({ referenceHashes }) => referenceHashes.length > 0),
        rejects: [],
        duplicates: 0,
        filtered: 0,
        warnings: [],
      });
    }
    await collect.finish({ steps: [], at });
    await ledger.runs.settle(right, { state: 'succeeded', at });
  }
}

function batchOf(day: number, number: number, bookings: number) {
  const first = number * batchSize;
  const places = Array.from(
    { length: Math.max(0, Math.min(batchSize, bookings - first)) },
    (_, index) => first + index,
  );
  const references = places.map((place) => referenceOf(day, place));
  const lines = references.map(
    (reference, index) =>
      `${bookedServiceId(first + index)},${reference},Maria Garcia Lopez,Provider ${(first + index) % 40},0${first + index},21112199,24112199\n`,
  );
  return {
    stream: 'file' as const,
    number,
    lines: Buffer.from(lines.join('')),
    referenceHashes: references.map(hashReference),
    stays: {
      hotelHashes: places.map((place) => hashProviderHotel(hotelOf(place))),
      lastDays: places.map(() => checkIn),
    },
  };
}

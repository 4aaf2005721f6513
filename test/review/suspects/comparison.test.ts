import { describe, expect, it } from 'vitest';
import type { Booking, ProviderHotel } from '../../../src/booking/booking.js';
import { createLineBuffer, renderLine } from '../../../src/booking/render-line.js';
import type { BatchStream } from '../../../src/booking/sending.js';
import type { Collect, CollectedBatch, CollectedChunk } from '../../../src/ledger/collecting.js';
import type { CopiedMapping } from '../../../src/ledger/mappings.js';
import {
  createComparingCollect,
  findSuspicion,
  type KnownMapping,
} from '../../../src/review/suspects/comparison.js';
import { listSuspects } from '../../../src/review/suspects/listing.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { fileBooking } from '../file/file-bookings.js';
import { someRun } from '../some-run.js';

const now = Date.parse('2026-11-21T02:30:00Z');

function batchOf(bookings: readonly Booking[], stream: BatchStream = 'posted', number = 0): CollectedBatch {
  const lines = createLineBuffer(100);
  for (const booking of bookings) {
    renderLine(booking, lines);
    lines.constant(Buffer.from('\n'));
  }
  return { stream, number, lines: lines.handOver(), referenceHashes: bookings.map(() => 1) };
}

/** A copy of these mappings, and the collect that compares with it; both record their calls. */
function compareWith(mappings: readonly Partial<CopiedMapping>[]) {
  const asked: ProviderHotel[][] = [];
  const stored: CollectedChunk[] = [];
  const keyOf = (hotel: Partial<ProviderHotel>) =>
    JSON.stringify([hotel.providerName, hotel.providerHotelId]);
  const byKey = new Map(mappings.map((mapping) => [keyOf(mapping), mapping as CopiedMapping]));
  const under: Collect = {
    store: async (chunk) => {
      stored.push(chunk);
    },
    noteVolume: async () => {},
    noteFilters: async () => {},
    holds: () => Promise.reject(new Error('nothing is looked up here')),
    finish: () => Promise.reject(new Error('nothing is finished here')),
  };
  const { mappings: copy } = fakeLedger({
    mappings: {
      lookUp: async (hotels) => {
        asked.push([...hotels]);
        return hotels.map((hotel) => byKey.get(keyOf(hotel)));
      },
    },
  });
  const collect = createComparingCollect(under, { copy, now });
  const store = (...batches: CollectedBatch[]) =>
    collect.store({ batches, duplicates: 3, filtered: 0, rejects: [], warnings: [] });
  return { asked, stored, store };
}

const hotel = (number: number): Booking =>
  fileBooking({ bookingReferenceId: `BR-${number}`, providerHotelId: String(number) });

describe('comparing a day with the local copy', () => {
  it('names the suspects of each batch by their rows, and changes nothing else', async () => {
    const { stored, store } = compareWith([
      { providerName: 'hotelbeds', providerHotelId: '1', serviceId: 5 },
      { providerName: 'hotelbeds', providerHotelId: '3', serviceId: 100_200, movedAt: now - 1 },
      { providerName: 'hotelbeds', providerHotelId: '4', movedAt: now - 2 },
    ]);
    const batches = [batchOf([hotel(0), hotel(1), hotel(1)]), batchOf([hotel(3), hotel(4)], 'file', 1)];
    await store(...batches);
    expect(stored).toEqual([
      {
        batches: [
          {
            ...batches[0],
            suspects: [
              { row: 1, reason: 'other-master', serviceId: 5 },
              { row: 2, reason: 'other-master', serviceId: 5 },
            ],
          },
          {
            ...batches[1],
            suspects: [
              { row: 0, reason: 'moved', serviceId: 100_200, movedAt: now - 1 },
              { row: 1, reason: 'moved', movedAt: now - 2 },
            ],
          },
        ],
        duplicates: 3,
        filtered: 0,
        rejects: [],
        warnings: [],
      },
    ]);
  });

  it('looks up nothing for bookings that do not name their hotel, and counts their rows', async () => {
    const { asked, stored, store } = compareWith([
      { providerName: 'hotelbeds', providerHotelId: '1', serviceId: 5 },
    ]);
    const { providerName: _, ...withoutProvider } = fileBooking();
    const { providerHotelId: __, ...withoutId } = fileBooking();
    await store(batchOf([withoutProvider, withoutId, hotel(1)]));
    expect(asked).toEqual([[{ providerName: 'hotelbeds', providerHotelId: '1' }]]);
    expect(stored[0]?.batches[0]?.suspects).toMatchObject([{ row: 2 }]);
  });
});

const dayMs = 86_400_000;
const booked = 100_200;

it.each<[string, KnownMapping, ReturnType<typeof findSuspicion>]>([
  ['the copy does not know its hotel', {}, undefined],
  ['the copy agrees', { serviceId: booked }, undefined],
  [
    'it is mapped to another master, for however long',
    { serviceId: 1, movedAt: now - 800 * dayMs },
    'other-master',
  ],
  ['it has moved to another master just now', { serviceId: 1, movedAt: now - 1 }, 'other-master'],
  [
    'it has moved to its own master within a week',
    { serviceId: booked, movedAt: now - 7 * dayMs + 1 },
    'moved',
  ],
  ['it has moved to its own master before', { serviceId: booked, movedAt: now - 7 * dayMs }, undefined],
  ['its mapping was deleted within a week', { movedAt: now - 6 * dayMs }, 'moved'],
  ['its mapping was deleted before', { movedAt: now - 8 * dayMs }, undefined],
])('whether a booking is a suspect where %s', (_, mapping, suspicion) => {
  expect(findSuspicion(booked, mapping, now)).toBe(suspicion);
});

it('The suspects of a run are listed up to a number, over all pages, without the names of guests', async () => {
  const pages = [[1, 2], [3, 4], [5]];
  const ledger = fakeLedger({
    bookings: {
      async nextSuspects(_, after) {
        const batch = (after?.batch ?? -1) + 1;
        const suspects = pages[batch]?.map((id, row) => ({
          ...{ line: `${id},BR-${id},Ana Lovelace,,,,`, row, reason: 'moved' as const },
        }));
        return suspects && { cursor: { stream: 'posted', batch }, stream: 'posted', suspects };
      },
    },
  });
  const listed = await listSuspects(ledger, someRun({ suspects: 5 }), 3);
  expect(listed.map(({ ServiceId }) => ServiceId)).toEqual([1, 2, 3]);
  expect(JSON.stringify(listed)).not.toContain('Lovelace');
  expect(await listSuspects(ledger, someRun(), 3)).toEqual([]);
});

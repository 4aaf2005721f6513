import { expect, it } from 'vitest';
import { readStaysAhead } from '../../../src/review/stays/stays-ahead.js';
import { at } from '../../contracts/ledger/days.js';
import { collectBookings, someBooking } from '../../desk/some-bookings.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

it('More stays than are compared at once are read in parts, each stay once, with the hotels of each part', async () => {
  const ledger = await openTemporaryLedger(() => at);
  const ids = ['H-1', 'H-2', 'H-3'];
  const bookings = Array.from({ length: 37_500 }, (_, index) =>
    someBooking({ providerHotelId: ids[index % 3] ?? '', bookingReferenceId: `BR-${index}` }),
  );
  await collectBookings(ledger, 'r1', bookings);
  const hotels = ids.map((providerHotelId) => ({ providerName: 'hotelbeds', providerHotelId }));
  const parts: string[][] = [];
  const read: (string | undefined)[] = [];
  for await (const part of readStaysAhead(ledger, hotels, { today: '2026-11-21' })) {
    const known = part.hotels.map(({ providerHotelId }) => providerHotelId);
    expect(new Set(part.stays.map(({ providerHotelId }) => providerHotelId))).toEqual(new Set(known));
    parts.push(known);
    read.push(...part.stays.map(({ reference }) => reference));
  }
  expect(parts.flat().toSorted()).toEqual(ids);
  expect([parts.length, read.length, new Set(read).size]).toEqual([2, bookings.length, bookings.length]);
});

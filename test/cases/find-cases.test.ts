import { expect, it } from 'vitest';
import { caseToCells, findCases, readStoredBookings } from '../../src/cases/shown-cases.js';
import type { HotelContent } from '../../src/ledger/hotels.js';
import { loadHotels, openCases, type SomeCase, threeCases } from '../desk/cases/some-cases.js';
import { deliverBookings, someBooking } from '../desk/some-bookings.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';

const now = Date.UTC(2026, 10, 23, 9, 30);
const today = '2026-11-23';

const hotels: readonly HotelContent[] = [
  { serviceId: 1, coordinates: { latitude: 40.4, longitude: -3.7 } },
  { serviceId: 2, coordinates: { latitude: 35.7, longitude: 139.7 } },
  { serviceId: 3, coordinates: { latitude: 34.05, longitude: -118.24 } },
  { serviceId: 4, name: 'Nowhere' },
];

/** Each pair of hotels, for guests who check in on the same days or on an unknown one. */
const cases = [1, 2, 3, 4, 5].flatMap((booked) =>
  [1, 2, 3, 4, null].flatMap((copy): SomeCase[] =>
    ['2026-12-01', '2026-12-02', undefined].map((checkIn) => ({
      ...{ hotel: `${booked}-${copy}-${checkIn}`, booked, copy },
      stays: [['BR-1', checkIn]],
    })),
  ),
);

it('The list has unknown check-ins first, then the nearest day, and within a day what the clocks of the hotels say', async () => {
  const ledger = await openTemporaryLedger(() => now);
  await openCases(ledger, cases);
  await loadHotels(ledger, hotels);
  const found = await findCases(ledger, { today }, now);
  expect(found).toHaveLength(cases.length);
  const keys = found.map(({ id, firstCheckIn, hotels: { hoursToCheckIn = 0 } }) => ({
    day: firstCheckIn ?? '',
    hours: hoursToCheckIn,
    id,
  }));
  expect(new Set(keys.map(({ hours }) => hours)).size).toBeGreaterThan(6);
  expect(keys).toEqual(
    keys.toSorted((a, b) => a.day.localeCompare(b.day) || a.hours - b.hours || a.id - b.id),
  );
});

it('A case of a CSV has a cell for each column, and for extra ones', async () => {
  const ledger = await openTemporaryLedger(() => now);
  await openCases(ledger, threeCases);
  const [item] = await findCases(ledger, { state: 'all', ids: [3], today }, now);
  if (!item) throw new Error('expected case 3, got: none');
  expect(caseToCells({ ...item, extraValues: { Price: '9' } })).toMatchObject({
    ...{ id: 3, origins: 'affected', copyServiceId: 70, Price: '9', bookedHotelName: undefined },
  });
});

it('The guests of any number of bookings are those of the newest run of their day', async () => {
  const ledger = await openTemporaryLedger(() => now);
  const stays = Array.from({ length: 12 }, (_, index) => [`BR-${index}`, '2026-12-01'] as const);
  await openCases(ledger, [{ hotel: 'H-1', booked: 7, copy: 70, stays }]);
  const deliver = (id: string, startedAt: number, bookingClientName: string) => {
    const booking = someBooking({ bookingReferenceId: 'BR-11', providerHotelId: 'H-1', bookingClientName });
    return deliverBookings(ledger, id, [booking], { startedAt });
  };
  await deliver('r1', now - 9_000, 'Ana Gil');
  await deliver('r2', now, 'Eva Paz');
  const held = await ledger.cases.find(1);
  const stored = held && (await readStoredBookings(ledger, held, held.bookings, true));
  expect(stored && [...stored]).toMatchObject([['BR-11', { guests: ['Eva Paz'] }]]);
});

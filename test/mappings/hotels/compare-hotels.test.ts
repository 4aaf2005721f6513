import { expect, it, vi } from 'vitest';
import type { KnownHotel } from '../../../src/ledger/hotels.js';
import { createHotelComparer, type DoubtfulStay } from '../../../src/mappings/hotels/compare-hotels.js';
import { fakeLedger } from '../../support/fake-ledger.js';

const loadedAt = Date.UTC(2026, 10, 20);
const madrid: KnownHotel = {
  ...{ serviceId: 1, name: 'Grand Plaza', loadedAt },
  coordinates: { latitude: 40.4168, longitude: -3.7038 },
};
const tokyo: KnownHotel = {
  ...{ serviceId: 2, name: 'Park Inn', loadedAt },
  coordinates: { latitude: 35.6762, longitude: 139.6503 },
};
const nowhere: KnownHotel = { serviceId: 3, name: 'Without coordinates', loadedAt };
const known = new Map([madrid, tokyo, nowhere].map((hotel) => [hotel.serviceId, hotel]));

/** 22:30 in Madrid on the 20th, 06:30 in Tokyo on the 21st. */
const now = Date.UTC(2026, 10, 20, 21, 30);

function openComparer() {
  const lookUp = vi.fn(async (ids: readonly number[]) => ids.map((id) => known.get(id)));
  const { hotels } = fakeLedger({ hotels: { lookUp } });
  const clock = vi.fn(() => now);
  const compare = createHotelComparer({ hotels, clock });
  return {
    ...{ lookUp, clock },
    compare: async (stays: readonly DoubtfulStay[]) => (await compare(stays)).map((stay) => stay.hotels),
  };
}

it('puts both hotels side by side, with their distance and their clocks', async () => {
  const { compare, clock } = openComparer();
  const stay = { serviceId: 1, copyServiceId: 2, checkInDate: '2026-11-22' };
  expect(await compare([stay])).toEqual([
    {
      bookedHotel: { ...madrid, timeZone: 'Europe/Madrid', localTime: '2026-11-20T22:30' },
      copyHotel: { ...tokyo, timeZone: 'Asia/Tokyo', localTime: '2026-11-21T06:30' },
      distanceKm: expect.closeTo(10_771, -2),
      // Until midnight in Madrid, an hour before it is midnight in London.
      hoursToCheckIn: 25,
    },
  ]);
  clock.mockReturnValue(now + 3_600_000);
  expect(await compare([stay])).toMatchObject([
    { bookedHotel: { localTime: '2026-11-20T23:30' }, hoursToCheckIn: 24 },
  ]);
});

it('counts the hours by the clock of the booked hotel, or of the other one where that is not known', async () => {
  const { compare } = openComparer();
  const hours = async (serviceId: number, copyServiceId: number | null, checkInDate?: string) =>
    (await compare([{ serviceId, copyServiceId, checkInDate }]))[0]?.hoursToCheckIn;
  expect(await hours(1, 2, '2026-11-21')).toBe(1);
  expect(await hours(2, 1, '2026-11-21')).toBe(-7);
  expect(await hours(3, 2, '2026-11-22')).toBe(17);
  expect(await hours(9, 2, '2026-11-22')).toBe(17);
  expect(await hours(1, null, '2026-11-21')).toBe(1);
  expect(await hours(3, null, '2026-11-21')).toBeUndefined();
  expect(await hours(1, 2)).toBeUndefined();
  expect(await hours(1, 2, '2026-02-30')).toBeUndefined();
  // The clocks of Madrid go forward on 2027-03-28: one hour less.
  expect(await hours(1, null, '2027-03-29')).toBe(128 * 24);
});

it.each([
  [1, 3],
  [9, 1],
  [1, null],
])('does not know the distance between hotels %j and %j', async (serviceId, copyServiceId) => {
  const [pair] = await openComparer().compare([{ serviceId, copyServiceId }]);
  expect(pair?.distanceKm).toBeUndefined();
  expect(pair?.bookedHotel?.serviceId).toBe(serviceId === 9 ? undefined : serviceId);
  expect(pair?.copyHotel?.serviceId).toBe(copyServiceId === 9 ? undefined : (copyServiceId ?? undefined));
});

it('looks up each hotel once for all stays, a thousand at a time', async () => {
  const { compare, lookUp } = openComparer();
  const stays = Array.from({ length: 10_000 }, (_, index) => ({
    serviceId: 1 + (index % 1_500),
    copyServiceId: 2_000 + (index % 700),
  }));
  expect(await compare(stays)).toHaveLength(10_000);
  expect(lookUp.mock.calls.map(([ids]) => ids.length)).toEqual([1_000, 1_000, 200]);
});

import { expect, it } from 'vitest';
import {
  type HotelPair,
  type LocatedHotel,
  unknownPair,
} from '../../../src/mappings/hotels/compare-hotels.js';
import { pairColumns, toPairCells, toPairReport } from '../../../src/mappings/hotels/shown-hotels.js';

const loadedAt = Date.UTC(2026, 10, 20);
const bookedHotel: LocatedHotel = {
  ...{ serviceId: 7, loadedAt, name: 'Grand Plaza', city: 'Madrid', country: 'Spain', countryCode: 'ES' },
  ...{ phones: '+34 91', timeZone: 'Europe/Madrid', localTime: '2026-11-20T22:30' },
  coordinates: { latitude: 40.4, longitude: -3.7 },
};
const copyHotel: LocatedHotel = { serviceId: 9, loadedAt, name: 'Park Inn', city: '東京', country: 'Japan' };
const pair: HotelPair = { bookedHotel, copyHotel, distanceKm: 417.23, hoursToCheckIn: 25 };

it('two hotels in JSON and in a CSV', () => {
  expect(toPairReport(pair)).toMatchObject({
    bookedHotel: { name: 'Grand Plaza', latitude: 40.4, timeZone: 'Europe/Madrid', email: null },
    copyHotel: { name: 'Park Inn', latitude: null, timeZone: null, localTime: null },
    distanceKm: 417.23,
    hoursToCheckIn: 25,
  });
  expect(toPairReport(unknownPair)).toEqual({
    bookedHotel: null,
    copyHotel: null,
    distanceKm: null,
    hoursToCheckIn: null,
  });
  const cells = toPairCells(pair);
  expect(Object.keys(cells).sort()).toEqual([...pairColumns].sort());
  expect(cells).toMatchObject({
    ...{
      bookedHotelName: 'Grand Plaza',
      bookedHotelCity: 'Madrid',
      bookedHotelLocalTime: '2026-11-20T22:30',
    },
    ...{ copyHotelName: 'Park Inn', copyHotelPhones: undefined, distanceKm: 417.23 },
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isTimeZone, loadTimeZones, measureKm } from '../../src/base/geography.js';

const madrid = { latitude: 40.4168, longitude: -3.7038 };
const malaga = { latitude: 36.7213, longitude: -4.4214 };
const tokyo = { latitude: 35.6762, longitude: 139.6503 };
const saoPaulo = { latitude: -23.5505, longitude: -46.6333 };
const anyPlace = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
});

it.each([
  ['Madrid and Málaga', madrid, malaga, 415.8],
  ['São Paulo and Tokyo, across the date line', saoPaulo, tokyo, 18_535],
  ['two hotels in one street', madrid, { latitude: 40.4177, longitude: -3.7038 }, 0.1001],
])('measures %s', (_, from, to, km) => {
  expect(Math.abs(measureKm(from, to) / km - 1)).toBeLessThan(0.006);
});

it('is zero for one place, the same both ways, and never more than half the circumference', () => {
  fc.assert(
    fc.property(anyPlace, anyPlace, (from, to) => {
      expect(measureKm(from, from)).toBe(0);
      expect(measureKm(from, to)).toBeCloseTo(measureKm(to, from), 6);
      expect(measureKm(from, to)).toBeLessThanOrEqual(20_015.2);
    }),
  );
});

it.each([
  ['Europe/Madrid', 40.4168, -3.7038],
  ['America/Sao_Paulo', -23.5505, -46.6333],
  ['Asia/Kathmandu', 27.7172, 85.324],
])('finds the zone %s', async (zone, latitude, longitude) => {
  const { zoneAt } = await loadTimeZones();
  expect(zoneAt({ latitude, longitude })).toBe(zone);
});

it('finds only zones that this machine knows, anywhere on earth', async () => {
  const { zoneAt } = await loadTimeZones();
  for (let latitude = -90; latitude <= 90; latitude += 3)
    for (let longitude = -180; longitude <= 180; longitude += 3) {
      const zone = zoneAt({ latitude, longitude });
      if (zone !== undefined) expect(isTimeZone(zone), zone).toBe(true);
    }
});

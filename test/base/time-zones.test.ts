import { expect, it } from 'vitest';
import { isTimeZone, loadTimeZones } from '../../src/base/geography.js';

it.each([
  ['Europe/Madrid', 40.4168, -3.7038],
  ['America/Sao_Paulo', -23.5505, -46.6333],
  ['Asia/Kathmandu', 27.7172, 85.324],
])('finds %s', async (zone, latitude, longitude) => {
  const { zoneAt } = await loadTimeZones();
  expect(zoneAt({ latitude, longitude })).toBe(zone);
});

it('returns only zones that this machine knows, anywhere on earth', async () => {
  const { zoneAt } = await loadTimeZones();
  for (let latitude = -90; latitude <= 90; latitude += 3)
    for (let longitude = -180; longitude <= 180; longitude += 3) {
      const zone = zoneAt({ latitude, longitude });
      if (zone !== undefined) expect(isTimeZone(zone), zone).toBe(true);
    }
});

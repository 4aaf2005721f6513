import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readAll } from '../../contracts/source/reading.js';
import { sendJson, useBookingsApi } from '../../sources/http/bookings-api.js';
import { openModuleSource } from '../../sources/module/module-folder.js';
import { day } from '../../sources/reading.js';

const path = fileURLToPath(new URL('../../../examples/bookings.mjs', import.meta.url));

describe('the example of a bookings module', () => {
  it('reads the day of each hotel, and says how many bookings there were', async () => {
    const api = await useBookingsApi(({ url }, response) => {
      const room = {
        masterId: 42,
        provider: 'Bedlink',
        providerHotelId: '007',
        from: '2026-11-24',
        to: '2026-11-26',
      };
      sendJson(response, [{ id: `BR-${url.pathname}`, guest: { name: 'Ann Guest' }, room }]);
    });
    const said: string[] = [];
    const source = openModuleSource(path, {
      options: { baseUrl: `${api.origin}/v1/`, token: 'abc', hotels: ['Ritz', 'Grand/Hotel'] },
      log: { info: (text) => said.push(text), warn: () => expect.fail('a warning') },
    });
    expect(await readAll(source, day)).toEqual(
      ['Ritz', 'Grand%2FHotel'].map((hotel, index) => ({
        place: index + 1,
        fields: {
          ServiceId: 42,
          BookingReferenceId: `BR-/v1/hotels/${hotel}/reservations`,
          BookingClientName: 'Ann Guest',
          ProviderName: 'Bedlink',
          ProviderHotelId: '007',
          CheckInDate: '2026-11-24',
          CheckOutDate: '2026-11-26',
        },
      })),
    );
    expect(api.requests.map(({ url, headers }) => [url.search, headers.authorization])).toEqual(
      Array(2).fill(['?from=2026-11-19T23%3A00%3A00.000Z&to=2026-11-20T23%3A00%3A00.000Z', 'Bearer abc']),
    );
    expect(said).toEqual(['Ritz: 1 bookings', 'Grand/Hotel: 1 bookings']);
  });

  it('fails with a hotel that doesn’t answer', async () => {
    const api = await useBookingsApi((_, response) => response.writeHead(500).end());
    const source = openModuleSource(path, {
      options: { baseUrl: api.origin, token: 'abc', hotels: ['Ritz'] },
    });
    await expect(readAll(source, day)).rejects.toThrow(
      /bookings\.mjs failed while it read 2026-11-20: Error at .*bookings\.mjs:13:/,
    );
  });
});

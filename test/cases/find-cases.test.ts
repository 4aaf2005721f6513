import { expect, it } from 'vitest';
import { findCases, readWindow } from '../../src/cases/find-cases.js';
import { rememberHotels } from '../../src/cases/remembered-hotels.js';
import type { HotelContent } from '../../src/ledger/hotels.js';
import { loadHotels, openCases, type SomeCase } from '../desk/cases/some-cases.js';
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

it('a window of the list of cases keeps the order of the whole list, even by the clocks of their hotels', async () => {
  const ledger = await openTemporaryLedger(() => now);
  await openCases(ledger, cases);
  await loadHotels(ledger, hotels);
  const clock = () => now;
  const whole = await findCases(ledger, { today }, clock);
  expect(new Set(whole.map(({ hotels: { hoursToCheckIn } }) => hoursToCheckIn)).size).toBeGreaterThan(6);
  const outlines = await ledger.cases.listOutlines({ today });
  for (const [from, to] of [
    [0, cases.length],
    [0, 10],
    [20, 30],
    [cases.length - 5, cases.length + 5],
    [cases.length, cases.length + 10],
  ] as const) {
    const window = { from, to, labels: [], today };
    const shown = await readWindow(ledger, rememberHotels(ledger.hotels), outlines, window, clock);
    expect(shown).toEqual(whole.slice(from, to));
  }
});

import type { NoticeLedger } from '../../src/notifications/notice-store.js';
import { fillCases } from '../made-cases.js';
import { bookedServiceId, hotelOf } from '../many-days.js';
import { hotels, makeRun } from './made-runs.js';
import { planRuns, type YearsSize } from './planned-runs.js';

const rowsAtOnce = 1_000;
/** How many mappings moved to another master hotel. */
const moved = 5_000;
const movedBy = 5_000_000;
/** Small transactions of several days share a commit. */
const daysAtOnce = 8;
const bookingsOfEachCase = 10;
/** Of the case with the most. */
export const bookingsOfLargestCase = 2_000;

/** Fills a ledger with years of runs, the copy of the mappings, hotels, and cases. */
export async function fillYears(ledger: NoticeLedger, today: string, size: YearsSize): Promise<void> {
  await storeMappings(ledger, Date.parse(today));
  await storeHotels(ledger, Date.parse(today));
  const days = [...planRuns(today, size)];
  await Promise.all(
    Array.from({ length: daysAtOnce }, async () => {
      for (let day = days.shift(); day; day = days.shift()) for (const run of day) await makeRun(ledger, run);
    }),
  );
  await fillCases(ledger, { cases: size.cases - 1, bookingsOfEach: bookingsOfEachCase });
  await fillCases(ledger, { cases: 1, bookingsOfEach: bookingsOfLargestCase, from: size.cases - 1 });
}

/** Each provider hotel as it is booked; the first ones moved since. */
async function storeMappings({ mappings }: NoticeLedger, now: number): Promise<void> {
  const dayMs = 86_400_000;
  // Long before the cases were opened, which would otherwise be corrected.
  await store('first', now - 401 * dayMs, hotels, 0);
  await store('second', now - 400 * dayMs, moved, movedBy);

  async function store(syncId: string, at: number, count: number, offset: number): Promise<void> {
    await mappings.beginSync({ scope: '', syncId, since: 0, at });
    for (let first = 0; first < count; first += rowsAtOnce) {
      const isLast = first + rowsAtOnce >= count;
      await mappings.storePage({
        ...{ syncId, at },
        ...(first > 0 && { after: `page ${first}` }),
        ...(!isLast && { resumeKey: `page ${first + rowsAtOnce}` }),
        rows: Array.from({ length: rowsAtOnce }, (_, index) => ({
          ...hotelOf(first + index),
          serviceId: bookedServiceId(first + index) + offset,
          channelIds: ['B2C'],
          isDeleted: false,
        })),
      });
    }
  }
}

/** What is known about the hotels of the cases, both the booked and the mapped one. */
async function storeHotels({ hotels: contents }: NoticeLedger, now: number): Promise<void> {
  const id = 'hotels';
  await contents.beginLoad({ id, file: 'hotels.csv', at: now });
  for (let first = 0; first < 2 * moved; first += rowsAtOnce) {
    await contents.addHotels({
      ...{ id, after: first },
      hotels: Array.from({ length: rowsAtOnce }, (_, index) => {
        const place = (first + index) % moved;
        const offset = first < moved ? 0 : movedBy;
        return {
          serviceId: bookedServiceId(place) + offset,
          name: `Hotel ${place}${offset === 0 ? '' : ' Palace'}`,
          coordinates: { latitude: 41.4 + (place % 100) / 1_000, longitude: 2.17 + offset / 1e9 },
          address: `Calle Mayor ${place}`,
          city: 'Barcelona',
          country: 'Spain',
          countryCode: 'ES',
        };
      }),
    });
  }
  await contents.finishLoad(id, now);
}

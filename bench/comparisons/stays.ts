import type { ProviderHotel } from '../../src/booking/booking.js';
import { watchMappings } from '../../src/cases/follow-mappings.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { readStaysAhead } from '../../src/review/stays/stays-ahead.js';
import { postgresNeeds } from '../../test/support/postgres.js';
import type { Comparison, Scale } from '../comparison.js';
import { findTimeObstacle } from '../harness/measured-process.js';
import { type DatabaseKind, databaseTitles } from '../ledger-place.js';
import { bookedServiceId, hotelOf } from '../many-days.js';
import { measureWork, prepareLedger } from '../prepared-ledger.js';

const sizes = {
  full: { days: 30, bookings: 1_000_000, moves: 10_000 },
  quick: { days: 3, bookings: 100_000, moves: 1_000 },
};
/** All stays are ahead. */
const today = '2026-11-20';

/** The bookings of one provider hotel, once the ledger is open. */
export function createStaysComparison(name: string, database: DatabaseKind): Comparison {
  return {
    name,
    work: `all upcoming stays at a provider hotel in 30 days of 1,000,000 bookings on ${databaseTitles[database]}`,
    against: '–',
    unit: 'ms',
    reach: { ours: { atMost: 1_000, unit: 'ms' } },
    rounds: 15,
    findObstacle: () => findObstacle(database),
    async prepare(scale) {
      const { days, bookings } = sizes[scale];
      const { ledger, close } = await prepare(scale, database);
      let turn = 0;
      return {
        ours: {
          name: 'booked-hotel review',
          async run() {
            turn += 1;
            const hotel = hotelOf((turn * 7_919) % bookings);
            return measureWork(async () => {
              const found = await countStays(ledger, [hotel]);
              if (found !== days) throw new Error(`expected ${days} stays, found ${found}`);
            }, 1_000);
          },
        },
        notes: ['One booking of the hotel each day; each turn asks for another hotel.'],
        close,
      };
    },
  };
}

/** A sync moved many mappings: whom does it endanger? */
export function createWatchComparison(name: string, database: DatabaseKind): Comparison {
  return {
    name,
    work: `the watch after 10,000 moves of mappings, in 30 days of 1,000,000 bookings on ${databaseTitles[database]}`,
    against: '–',
    unit: 's',
    reach: { ours: { atMost: 60, unit: 's' } },
    // The second watch would find the cases open.
    rounds: 1,
    findObstacle: () => findObstacle(database),
    async prepare(scale) {
      const { days, moves } = sizes[scale];
      const { ledger, close } = await prepare(scale, database);
      await moveMappings(ledger, moves);
      return {
        ours: {
          name: 'booked-hotel review',
          run: () =>
            measureWork(async () => {
              const parts = { ledger, today, reviews: false, clock: Date.now, notify: () => {} };
              const { counts } = await watchMappings(parts, new AbortController().signal);
              const expected = { endangered: moves, bookings: moves * days };
              if (counts.endangered !== expected.endangered || counts.bookings !== expected.bookings)
                throw new Error(`expected ${JSON.stringify(expected)}, found ${JSON.stringify(counts)}`);
            }),
        },
        notes: ['Each move endangers one booking of each day, and opens a case.'],
        close,
      };
    },
  };
}

function findObstacle(database: DatabaseKind): string | undefined {
  return findTimeObstacle() ?? (database === 'postgres' ? postgresNeeds : undefined);
}

async function prepare(scale: Scale, database: DatabaseKind) {
  const prepared = await prepareLedger(sizes[scale], database);
  const ledger = prepared.open();
  return {
    ledger,
    async close() {
      await ledger.close();
      await prepared.close();
    },
  };
}

async function countStays(ledger: Ledger, hotels: readonly ProviderHotel[]): Promise<number> {
  let found = 0;
  for await (const { stays } of readStaysAhead(ledger, hotels, { today })) found += stays.length;
  return found;
}

/** Maps the hotels as they were booked, and then all of them to other master hotels. */
export async function moveMappings(ledger: Ledger, moves: number): Promise<void> {
  for (const [at, offset] of [0, 5_000_000].entries()) {
    const rows = Array.from({ length: moves }, (_, place) => ({
      ...hotelOf(place),
      serviceId: bookedServiceId(place) + offset,
      channelIds: [],
      isDeleted: false,
    }));
    const syncId = `sync-${at}`;
    await ledger.mappings.beginSync({ scope: '', syncId, since: 0, at });
    await ledger.mappings.storePage({ syncId, rows, at });
  }
}

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hashPlainHotel, hashProvider } from '../../src/booking/booking.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { createNormaliser } from '../../src/booking/normalise.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { collectDay } from '../../src/review/collect/collect.js';
import { createDayReader } from '../../src/review/collect/day-reader.js';
import type { Delivery } from '../../src/review/delivery.js';
import { createCsvSource } from '../../src/sources/csv/csv-source.js';
import { createLocalDayFile } from '../../src/sources/files/day-file.js';
import { withReplaced } from '../../test/support/fake-ledger.js';
import type { Comparison, Measurement } from '../comparison.js';
import { writeFileDay } from '../file-day.js';
import { makeTemporaryFolder } from '../harness/environment.js';
import { hotelOf } from '../many-days.js';
import { measureWork } from '../prepared-ledger.js';

const hotels = 10_000;
const sizes = { full: 1_000_000, quick: 50_000 };
const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const delivery: Delivery = {
  kind: 'file',
  names: 'send',
  masterIdName: 'ServiceId',
  plan: () => [],
  perform: () => Promise.reject(new TypeError('nothing is sent here')),
};

/** What it costs to find the stays of a hotel later: the index is written while a day is collected. */
export const stayIndex: Comparison = {
  name: 'stay-index',
  work: 'collecting 1,000,000 bookings, processor time',
  against: 'the same without the index of stays',
  unit: 's',
  reach: { ratio: { atMost: 1.05 } },
  // Pairs, one after the other: what else the machine does concerns both.
  rounds: 9,
  findObstacle: () => undefined,
  async prepare(scale) {
    const bookings = sizes[scale];
    const { path: folder } = makeTemporaryFolder();
    const csv = join(folder, 'bookings.csv');
    await writeFileDay(csv, { day: day.iso, bookings });
    return {
      ours: { name: 'with the index', run: () => collect(folder, csv, (ledger) => ledger) },
      other: {
        name: 'without it',
        async run() {
          const { value } = await collect(folder, csv, withoutStays);
          // The reader finds the keys of the stays in either case.
          const seconds = value - (await findKeys(bookings));
          return { value: seconds, cpuSeconds: seconds };
        },
      },
      notes: [
        'The source is read in the same thread. Without the index: nor the time to find its keys, of as many bookings.',
      ],
      close: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

async function collect(folder: string, csv: string, adapt: (ledger: Ledger) => Ledger): Promise<Measurement> {
  const path = join(folder, 'ledger.db');
  for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
  const ledger = createSqliteLedger({ path, clock: Date.now });
  const run = await ledger.runs.create({
    ...{ id: 'run', day: day.iso, startedAt: Date.now() },
    ...({ delivery: 'file', trigger: 'manual' } as const),
  });
  const parts = {
    reader: createDayReader({
      source: createCsvSource({ file: createLocalDayFile(csv) }),
      normaliserFor: () => createNormaliser(),
    }),
    ...{ delivery, ledger: adapt(ledger), clock: Date.now, notify: () => {} },
    limits: { batchSize: 500, maxRejectedShare: 0.1, emptyDay: 'fail' as const },
  };
  const { cpuSeconds = 0 } = await measureWork(async () => {
    await collectDay(day, run, parts, new AbortController().signal);
  });
  await ledger.close();
  return { value: cpuSeconds, cpuSeconds };
}

function withoutStays(ledger: Ledger): Ledger {
  return withReplaced(ledger, {
    bookings: {
      async beginCollect(right, start) {
        const collect = await ledger.bookings.beginCollect(right, start);
        return {
          ...collect,
          store: (chunk) =>
            collect.store({ ...chunk, batches: chunk.batches.map(({ stays: _, ...batch }) => batch) }),
        };
      },
    },
  });
}

/** As the reader does for most bookings: from their bytes. Processor time, in seconds. */
async function findKeys(count: number): Promise<number> {
  const provider = hashProvider('Provider 1');
  const ids = Array.from({ length: hotels }, (_, place) => Buffer.from(hotelOf(place).providerHotelId));
  const { cpuSeconds = 0 } = await measureWork(async () => {
    for (let found = 0; found < count; found += ids.length)
      for (const id of ids) hashPlainHotel(provider, id, 0, id.length);
  });
  return cpuSeconds;
}

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bench } from 'tinybench';
import { createBusinessDay } from '../src/booking/business-day.js';
import { createNormaliser } from '../src/booking/normalise.js';
import type { Ledger } from '../src/ledger/ledger.js';
import { createSqliteLedger } from '../src/ledger/sqlite/sqlite-ledger.js';
import { createItemRenderer, readReference } from '../src/review/body/booking-item.js';
import { planBatches } from '../src/review/body/plan.js';
import { collectDay } from '../src/review/collect.js';
import type { Delivery } from '../src/review/delivery.js';
import { createDayReader } from '../src/review/reading/day-reader.js';
import { createCsvSource } from '../src/sources/csv.js';

/**
 * How long it takes to bring a day of 300,000 bookings from a CSV into the ledger: parse, validate, drop duplicates,
 * store, all durable. The budget is 1.2 s on a machine of two cores. Run it with nothing else at work.
 */
const rows = 300_000;
const batchSize = 500;
const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const folder = await mkdtemp(join(tmpdir(), 'hotel-review-bench-'));
const path = join(folder, 'bookings.csv');
const maker = new URL('./make-bookings.ts', import.meta.url).pathname;
execFileSync(process.execPath, [...process.execArgv, maker, path, day.iso, `${rows}`]);

const renderItem = createItemRenderer('ServiceId');
const delivery: Delivery = {
  kind: 'body',
  formOf: () => 'body',
  render: (booking, _form, line) => renderItem(booking, line),
  plan: ({ body }) => planBatches(body, batchSize),
  perform: () => Promise.reject(new TypeError('nothing is sent here')),
};

let count = 0;
let ledger: Ledger;

const bench = new Bench({
  name: `collect ${rows} bookings`,
  iterations: 7,
  warmupIterations: 1,
  time: 0,
  warmupTime: 0,
});
bench.add(
  'CSV to ledger',
  async () => {
    const { id, token } = await ledger.createRun({
      id: `run-${count}`,
      day: day.iso,
      delivery: 'body',
      trigger: 'manual',
      startedAt: Date.now(),
    });
    await collectDay(
      day,
      { runId: id, token },
      {
        reader: createDayReader({ source: createCsvSource({ path }), normalise: createNormaliser() }),
        delivery,
        ledger,
        limits: { batchSize, maxRejectedShare: 0.1, emptyDay: 'fail' },
        clock: Date.now,
        notify: () => {},
      },
      new AbortController().signal,
    );
  },
  {
    beforeEach() {
      count += 1;
      ledger = createSqliteLedger({
        path: join(folder, `ledger-${count}.db`),
        carriesReference: (line, _form, reference) => readReference(line) === reference,
        clock: Date.now,
      });
    },
    afterEach: () => ledger.close(),
  },
);

await bench.run();
console.table(bench.table());
await rm(folder, { recursive: true });

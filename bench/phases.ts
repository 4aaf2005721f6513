import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Bench, type TaskResult } from 'tinybench';
import { renderTable } from '../src/base/tables.js';
import { createBusinessDay } from '../src/booking/business-day.js';
import { createNormaliser } from '../src/booking/normalise.js';
import { readStoredBatches } from '../src/ledger/batches.js';
import { createSqliteLedger } from '../src/ledger/sqlite/sqlite-ledger.js';
import { collectDay } from '../src/review/collect/collect.js';
import { createDayReader } from '../src/review/collect/day-reader.js';
import { createBookingStore } from '../src/review/collect/store-bookings.js';
import type { Delivery } from '../src/review/delivery.js';
import { renderReviewFile } from '../src/review/file/file-attempt.js';
import { checkReviewFile } from '../src/review/file/file-check.js';
import { startJoin } from '../src/review/file/join-result.js';
import { defaultResultColumn, defaultResultValues } from '../src/review/file/result.js';
import { createVerdictState } from '../src/review/file/verdict-state.js';
import { createCsvSource } from '../src/sources/csv/csv-source.js';
import { createLocalDayFile } from '../src/sources/files/day-file.js';
import { createDirectorySpool } from '../src/storage/spool.js';
import { writeFileDay } from './file-day.js';
import { makeTemporaryFolder } from './harness/environment.js';
import { writeResult } from './stand-ins/write-result.js';

/**
 * The time of a day by file, phase by phase in one thread: `npm run bench:phases -- [BOOKINGS]`. The first four phases are
 * the collect; each includes the previous ones, so its own time is the difference.
 */
const bookings = Number(process.argv[2] ?? 1_000_000);
const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const { path: folder } = makeTemporaryFolder();
const [csv, database] = [join(folder, 'bookings.csv'), join(folder, 'ledger.db')];
await writeFileDay(csv, { day: day.iso, bookings });

const masterIdColumn = 'Service Mappings Id';
const { signal } = new AbortController();
const source = createCsvSource({ file: createLocalDayFile(csv) });
const how = { kind: 'file', names: 'send' } as const;
const reader = createDayReader({ source, normaliserFor: () => createNormaliser() });
const delivery: Delivery = {
  ...how,
  masterIdName: 'ServiceId',
  plan: () => [],
  perform: () => Promise.reject(new TypeError('nothing is sent here')),
};
const spool = createDirectorySpool({ root: folder });
const fiveRounds = { iterations: 5, warmupIterations: 1, time: 0, warmupTime: 0 };
const limits = { batchSize: 500, maxRejectedShare: 0.1, emptyDay: 'fail' as const };

function openLedger() {
  return createSqliteLedger({
    path: database,
    clock: Date.now,
  });
}

async function collect() {
  for (const suffix of ['', '-wal', '-shm']) await rm(`${database}${suffix}`, { force: true });
  const ledger = openLedger();
  const run = {
    id: 'run',
    day: day.iso,
    delivery: 'file',
    trigger: 'manual',
    startedAt: Date.now(),
  } as const;
  const created = await ledger.runs.create(run);
  const parts = { reader, delivery, ledger, limits, clock: Date.now, notify: () => {} };
  const collected = await collectDay(day, created, parts, signal);
  return { ledger, collected };
}

const collecting = new Bench(fiveRounds)
  .add('parse', async () => {
    for await (const _ of source.read(day, { signal }));
  })
  .add('… and validate, render', async () => {
    for await (const _ of reader.read(day, how, { signal }));
  })
  .add('… and tell duplicates', async () => {
    const intake = createBookingStore(day.iso, limits.batchSize, {
      store: async () => {},
      holds: async () => true,
    });
    for await (const chunk of reader.read(day, how, { signal })) await intake.take(chunk);
  })
  .add('… and store', async () => {
    const { ledger } = await collect();
    await ledger.close();
  });
await collecting.run();

const { ledger, collected } = await collect();
const written = await spool.write('sent.csv', renderReviewFile(ledger, collected));
await writeResult(join(folder, 'sent.csv'));
const { bookings: rows } = await ledger.bookings.measureBatches(collected.id, 'file');

const sending = new Bench(fiveRounds)
  .add('read back and write the file', async () => {
    await spool.write('again.csv', renderReviewFile(ledger, collected));
  })
  .add('check the file by its rules', async () => {
    const fault = await checkReviewFile(spool.read('sent.csv'), { ...written, masterIdColumn, rows });
    if (fault) throw new Error(`the file breaks the rules: ${fault.code}`);
  })
  .add('hash a file', async () => {
    const hash = createHash('sha256');
    for await (const block of createReadStream(join(folder, 'sent.csv'))) hash.update(block);
  })
  .add('join the result, judge the bookings', async () => {
    const sources = {
      readBytes: () => spool.read('sent_Result.csv'),
      readSent: () => readStoredBatches(ledger, collected, 'file'),
    };
    const join = startJoin(sources, {
      masterIdColumn,
      resultColumn: defaultResultColumn,
      resultValues: defaultResultValues,
      resultNames: 'all',
      hasErased: false,
      onRows: () => {},
    });
    for await (const block of sources.readBytes()) await join.take(block);
    const judgement = await join.end();
    if (judgement.isAllCorrect) return;
    const state = createVerdictState({ verdicts: [], sources: [] }, true);
    await state.add(judgement.say(), { name: 'result.csv' });
    state.end();
  });
await sending.run();
await ledger.close();

console.log(
  renderTable(
    [...collecting.tasks, ...sending.tasks].map(({ name, result }) => [name, showMedian(result)]),
    ['phase', `${bookings.toLocaleString('en')} bookings, median of 5`],
  ),
);

function showMedian(result: TaskResult): string {
  if (result.state === 'errored') throw result.error;
  return 'latency' in result ? `${(result.latency.p50 / 1000).toFixed(2)} s` : result.state;
}

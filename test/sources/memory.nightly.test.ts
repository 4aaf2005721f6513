import { describe, expect, it } from 'vitest';
import type { BookingSource } from '../../src/booking/source.js';
import { createCsvSource } from '../../src/sources/csv/csv-source.js';
import { createS3DayFile } from '../../src/sources/files/remote-day-files.js';
import { createAwsBucket } from '../../src/transports/s3/aws-bucket.js';
import { collectGarbage } from '../support/collect-garbage.js';
import { bucketName, useS3Server } from '../support/s3-server.js';
import { masterIdOnly } from '../support/source-columns.js';
import { useMariadb, usePostgres } from '../support/use-servers.js';
import { sendJson, useBookingsApi } from './http/bookings-api.js';
import { openHttpSource } from './http/open-source.js';
import { openModuleSource, writeModule } from './module/module-folder.js';
import { day, never } from './reading.js';
import { openSqlSource } from './sql/day-table.js';

const megabyte = 1_000_000;
/** Filler. */
const little = 32 * megabyte;

/** Reads a day, and returns its number of records and by how many bytes the memory grew meanwhile. */
async function measure(source: BookingSource) {
  const inUse = () => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  collectGarbage();
  const before = inUse();
  let count = 0;
  let growth = 0;
  for await (const { records } of source.read(day, { signal: never() })) {
    count += records.length;
    if (inUse() - before <= growth + little) continue;
    // Garbage doesn't count, whenever it is collected.
    collectGarbage();
    growth = Math.max(growth, inUse() - before);
  }
  return { count, growth };
}

describe('a day is read in constant memory', () => {
  it('from pages of an API, however many there are', async () => {
    const ProviderName = 'x'.repeat(500);
    const api = await useBookingsApi(({ url }, response) => {
      const page = Number(url.searchParams.get('page'));
      const length = page < 2_000 ? 100 : 0;
      sendJson(
        response,
        Array.from({ length }, (_, at) => ({ ServiceId: page * 100 + at, ProviderName })),
      );
    });
    const pagination = { kind: 'page', parameter: 'page' } as const;
    const { count, growth } = await measure(
      openHttpSource({ url: `${api.origin}/{day}?page=0`, pagination }),
    );
    expect(count).toBe(200_000);
    // The whole day has 110 MB.
    expect(growth).toBeLessThan(50 * megabyte);
  });

  it('from a module that yields one at a time', async () => {
    const path = writeModule(`export async function* bookings() {
      for (let id = 1; id <= 400_000; id += 1) yield { ServiceId: id, note: 'x'.repeat(500) + id };
    }`);
    const { count, growth } = await measure(openModuleSource(path, { columns: masterIdOnly }));
    expect(count).toBe(400_000);
    expect(growth).toBeLessThan(50 * megabyte);
  });

  const server = useS3Server();
  it('from an object of 200 MB', async () => {
    const block = Buffer.from(`1,${'x'.repeat(997)}\n`.repeat(1_000));
    const bucket = createAwsBucket(bucketName, server().access());
    const put = await bucket.put('2026-11-20.csv', {
      async *open() {
        yield Buffer.from('ServiceId,b\n'.padEnd(block.length, '\n'));
        for (let blocks = 1; blocks < 200; blocks += 1) yield block;
      },
      ...{ bytes: 200 * block.length, metadata: {} },
    });
    expect(put).toBe('put');
    const file = createS3DayFile({ bucket: bucketName, key: '{day}.csv', open: async () => bucket });
    const { count, growth } = await measure(createCsvSource({ file, columns: masterIdOnly }));
    expect(count).toBe(199_000);
    expect(growth).toBeLessThan(100 * megabyte);
  });

  const mariadb = useMariadb();
  const postgres = usePostgres();
  const many = 200_000;
  const wide = 1_200;

  // Whether the columns are used or not.
  it.each([
    ['PostgreSQL, however many there are', many, `n || repeat('x', 1000) AS bookingclientname`],
    ['PostgreSQL, however wide they are', wide, `repeat('x', 500000) AS note`],
    ['MariaDB, however many there are', many, `CONCAT(seq, REPEAT('x', 1000)) AS BookingClientName`],
    ['MariaDB, however wide they are', wide, `REPEAT('x', 500000) AS note`],
  ])('from rows of %s', async (name, rows, column) => {
    const isMariadb = name.startsWith('MariaDB');
    const url = await (isMariadb ? mariadb() : postgres()).createDatabase();
    const query = isMariadb
      ? `SELECT seq AS ServiceId, ${column} FROM seq_1_to_${rows} WHERE :day IS NOT NULL`
      : `SELECT n AS serviceid, ${column} FROM generate_series(1, ${rows}) AS n WHERE :day::text IS NOT NULL`;
    const { count, growth } = await measure(openSqlSource({ url, query }));
    expect(count).toBe(rows);
    expect(growth).toBeLessThan((rows === many ? 100 : 250) * megabyte);
  });
});

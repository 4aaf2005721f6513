import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';
import { serviceFields } from '../../../src/booking/booking.js';
import type { BusinessDay } from '../../../src/booking/business-day.js';
import { createCsvSource } from '../../../src/sources/csv/csv-source.js';
import { createLocalDayFile } from '../../../src/sources/files/local.js';
import { describeSourceContract, type IntendedRecord, type SourceDriver } from '../../contracts/source.js';
import { canCountDescriptors, countDescriptors } from '../files/open-descriptors.js';

function createCsvDriver(encode: (csv: string, broken: boolean) => Buffer): SourceDriver {
  let root = '';
  const source = () => createCsvSource({ file: createLocalDayFile(join(root, 'bookings-{day}.csv')) });
  async function prepare(records: readonly IntendedRecord[], { iso }: BusinessDay, broken: boolean) {
    root ||= await realpath(await mkdtemp(join(tmpdir(), 'csv-contract-')));
    const path = join(root, `bookings-${iso}.csv`);
    const rows = records.map((record) => serviceFields.map((field) => record[field] ?? ''));
    await writeFile(path, encode(stringify([[...serviceFields], ...rows]), broken));
    let line = 2;
    const places = rows.map((row) => {
      const place = line;
      line += stringify([row]).split('\n').length - 1;
      return place;
    });
    return {
      source: source(),
      places,
      ...(canCountDescriptors ? { held: () => countDescriptors(path) } : {}),
    };
  }
  return {
    prepare: (records, day) => prepare(records, day, false),
    prepareBroken: (records, day) => prepare(records, day, true),
    async prepareDays(days) {
      for (const { day, records } of days) await prepare(records, day, false);
      return { source: source() };
    },
    dispose: () => rm(root, { recursive: true, force: true }),
  };
}

describeSourceContract('csv', () =>
  createCsvDriver((csv, broken) => {
    const bytes = Buffer.from(csv);
    if (broken) bytes[Math.floor(bytes.length / 2)] = 0;
    return bytes;
  }),
);
describeSourceContract('csv in gzip', () =>
  createCsvDriver((csv, broken) => {
    // Stored, not compressed: otherwise the file would be small enough for a single read.
    const bytes = gzipSync(csv, { level: 0 });
    return broken ? bytes.subarray(0, bytes.length / 2) : bytes;
  }),
);

import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { BusinessDay } from '../../../src/booking/business-day.js';
import { createLocalDayFile } from '../../../src/sources/files/local.js';
import { createNdjsonSource } from '../../../src/sources/ndjson/ndjson-source.js';
import { describeSourceContract, type IntendedRecord, type SourceDriver } from '../../contracts/source.js';
import { canCountDescriptors, countDescriptors } from '../files/open-descriptors.js';

function createNdjsonDriver(encode: (ndjson: string, broken: boolean) => Buffer): SourceDriver {
  let root = '';
  const source = () => createNdjsonSource({ file: createLocalDayFile(join(root, 'bookings-{day}.ndjson')) });
  async function prepare(records: readonly IntendedRecord[], { iso }: BusinessDay, broken: boolean) {
    root ||= await realpath(await mkdtemp(join(tmpdir(), 'ndjson-contract-')));
    const path = join(root, `bookings-${iso}.ndjson`);
    // Every second record is followed by a blank line.
    const lines = records.flatMap((record, index) => [
      JSON.stringify(record),
      ...(index % 2 === 0 ? [''] : []),
    ]);
    await writeFile(path, encode(`${lines.join('\n')}\n`, broken));
    return {
      source: source(),
      places: records.map((_, index) => 1 + index + Math.ceil(index / 2)),
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

describeSourceContract('ndjson', () =>
  createNdjsonDriver((ndjson, broken) => {
    const bytes = Buffer.from(ndjson);
    if (broken) bytes[Math.floor(bytes.length / 2)] = 0;
    return bytes;
  }),
);
describeSourceContract('ndjson that is cut off', () =>
  createNdjsonDriver((ndjson, broken) => {
    const bytes = Buffer.from(ndjson);
    return broken ? bytes.subarray(0, bytes.lastIndexOf('"')) : bytes;
  }),
);
describeSourceContract('ndjson in gzip', () =>
  createNdjsonDriver((ndjson, broken) => {
    // Stored, not compressed: otherwise the file would be small enough for a single read.
    const bytes = gzipSync(ndjson, { level: 0 });
    return broken ? bytes.subarray(0, bytes.length / 2) : bytes;
  }),
);

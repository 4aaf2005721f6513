import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { readCsvRecords } from './csv-records.js';
import type { ResultFault } from './faults.js';

/**
 * Moves a draft into place in one step, replacing an older file: whole, or by a fault only its header and the first half of its
 * records.
 *
 * @param rows the number of its records
 * @returns the number of records published
 */
export async function publish(
  draft: string,
  target: string,
  rows: number,
  fault: ResultFault | undefined,
): Promise<number> {
  if (fault?.kind !== 'result-partial') {
    await rename(draft, target);
    return rows;
  }
  const half = Math.floor(rows / 2);
  const halfDraft = `${draft}.half`;

  async function* takeHalf(records: AsyncIterable<string[]>): AsyncGenerator<string[]> {
    let place = 0;
    for await (const record of records) {
      // Place 0 is the header.
      if (place <= half) yield record;
      place += 1;
    }
  }

  await pipeline(
    createReadStream(draft),
    (blocks: AsyncIterable<Buffer>) => readCsvRecords(blocks),
    takeHalf,
    stringify(),
    createWriteStream(halfDraft, { mode: 0o600 }),
  );
  await rename(halfDraft, target);
  await rm(draft);
  return half;
}

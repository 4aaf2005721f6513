import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BatchRange } from '../../../src/ledger/batches.js';
import {
  previewBodies,
  previewReviewFile,
  readFirstLines,
  type TakeContent,
} from '../../../src/review/stored/as-sent.js';
import { readFields } from '../../../src/review/stored/stored-line.js';
import { fileLineOf, lineOf } from '../../contracts/ledger/days.js';
import { collectedFileRun } from '../../contracts/ledger/file-days.js';
import { withReplaced } from '../../support/fake-ledger.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

const masterIdColumn = 'Service Mappings Id';
const name = '20112026.csv';
const header = `${masterIdColumn},BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate`;
const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const inFile = Array.from({ length: 6 }, (_, number) => fileLineOf(`F-${number}`));
const inBody = Array.from({ length: 5 }, (_, number) => lineOf(`B-${number}`));

describe('the first lines of a collected run', () => {
  it.each([
    [0, []],
    [2, inFile.slice(0, 2).map((line) => ({ line, stream: 'file' }))],
    [5, inFile.slice(0, 5).map((line) => ({ line, stream: 'file' }))],
    [7, [...inFile.map((line) => ({ line, stream: 'file' })), { line: inBody[0], stream: 'posted' }]],
  ])('are %d of the file, and then of the bodies', async (count, expected) => {
    const { ledger, run } = await prepare({ file: 6, body: 5 });
    const first = await readFirstLines(ledger, run, count);
    expect(first.map(({ line, stream }) => ({ line, stream }))).toEqual(expected);
    for (const { line, stream, batch, row } of first)
      expect((await ledger.bookings.readBatch(run.id, stream, batch)).toString().split('\n')[row]).toBe(line);
  });

  it('are as many as there are', async () => {
    const { ledger, run } = await prepare({ file: 0, body: 5 });
    expect((await readFirstLines(ledger, run, 50)).map(({ line }) => line)).toEqual(inBody);
  });

  it('are read from no more batches than necessary', async () => {
    const { ledger, run } = await prepare({ file: 6, body: 5 });
    const read: [stream: string, range: BatchRange][] = [];
    const watched = withReplaced(ledger, {
      bookings: {
        readBatches(runId, stream, range) {
          read.push([stream, range]);
          return ledger.bookings.readBatches(runId, stream, range);
        },
      },
    });
    await readFirstLines(watched, run, 4);
    expect(read).toEqual([['file', { from: 0, to: 1 }]]);
  });
});

describe('a preview', () => {
  it('contains the review file as it would be sent', async () => {
    const { ledger, run } = await prepare({ file: 6, body: 5 });
    const { taken, take } = createTaker();
    const bytes = `${[header, ...inFile].join('\n')}\n`;
    const sums = { name, rows: 6, bytes: Buffer.byteLength(bytes), sha256: hash(bytes) };
    expect(await previewReviewFile(ledger, run, name, take)).toEqual(sums);
    expect(taken).toEqual([[name, bytes]]);
    expect(await previewReviewFile(ledger, run, name)).toEqual(sums);
  });

  it('contains no review file if no booking can be in it', async () => {
    const { ledger, run } = await prepare({ file: 0, body: 5 });
    const { taken, take } = createTaker();
    expect(await previewReviewFile(ledger, run, name, take)).toBeUndefined();
    expect(taken).toEqual([]);
  });

  it('contains every body as it would be sent, and one checksum of all of them', async () => {
    const { ledger, run } = await prepare({ file: 6, body: 5 });
    const { taken, take } = createTaker();
    const items = inBody.map((line) => JSON.stringify(readFields(line)));
    const bodies = [items.slice(0, 4), items.slice(4)].map((some) => `{"Hotels":[${some.join(',')}]}`);
    const sums = {
      batches: 2,
      bytes: Buffer.byteLength(bodies.join('')),
      sha256: hash(bodies.join('')),
    };
    expect(await previewBodies(ledger, run, take)).toEqual(sums);
    expect(taken).toEqual(bodies.map((body, batch) => [`batch-${batch}.json`, body]));
    expect(await previewBodies(ledger, run)).toEqual(sums);
  });

  it('contains no body if all bookings are in the file', async () => {
    const { ledger, run } = await prepare({ file: 6 });
    const { taken, take } = createTaker();
    expect(await previewBodies(ledger, run, take)).toEqual({ batches: 0, bytes: 0, sha256: hash('') });
    expect(taken).toEqual([]);
  });
});

async function prepare(counts: { file: number; body?: number }) {
  const ledger = await openTemporaryLedger();
  return { ledger, run: await collectedFileRun(ledger, 'r1', counts) };
}

function createTaker() {
  const taken: [name: string, content: string][] = [];
  const take: TakeContent = async (takenName, content) => {
    const blocks: Uint8Array[] = [];
    if (content instanceof Uint8Array) blocks.push(content);
    else for await (const block of content) blocks.push(Buffer.from(block));
    taken.push([takenName, Buffer.concat(blocks).toString()]);
  };
  return { taken, take };
}

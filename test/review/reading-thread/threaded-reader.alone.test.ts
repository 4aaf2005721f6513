import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReadingOrder, type SourceSettings } from '../../../jobs/sources.js';
import { type BusinessDay, createBusinessDay } from '../../../src/booking/business-day.js';
import type { Sending } from '../../../src/booking/sending.js';
import { SourceError } from '../../../src/booking/source.js';
import { type ErasedGuests, rememberReference } from '../../../src/ledger/guests.js';
import type { DayReader, RenderedChunk } from '../../../src/review/collect/day-reader.js';
import {
  chunksAhead,
  createThreadedReader,
  more,
  sendChunks,
} from '../../../src/review/reading-thread/threaded-reader.js';
import { createCsvSource } from '../../../src/sources/csv/csv-source.js';
import { createLocalDayFile } from '../../../src/sources/files/day-file.js';
import type { ClockDifference } from '../../../src/transports/http/peer-clocks.js';
import { patienceMs } from '../../support/patience.js';
import { countTurns } from '../../support/turns.js';
import { readerOf } from '../array-source.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const header =
  'ServiceId,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate,Remark\n';
/** A day is large by its bytes: few bookings are enough. */
const remark = 'x'.repeat(700);
const body: Sending = { kind: 'body', names: 'send' };
const file: Sending = { kind: 'file', names: 'send' };
const never = new AbortController().signal;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'threaded-reader-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('a large day', () => {
  it('is read in a thread as it is read in this one', async () => {
    // Whole blocks of it are rejected.
    const rejects = `none,BR,Ana,Meridian,H,2026-12-01,2026-12-05,${remark}\n`.repeat(1_400);
    const csv = `${bookings(5_600)}${rejects}${bookings(10).slice(header.length)}`;
    const { reader, own, threads } = await prepare(csv);
    expect(await readAll(reader, file)).toEqual(await readAll(own, file));
    expect(await readAll(reader, body)).toEqual(await readAll(own, body));
    const hashKey = 'a key of the tests';
    const { hash, bits } = rememberReference('BR-1', hashKey, 0);
    const erased = { hashKey, bits: new Set([bits]), references: new Set([hash]) };
    const withoutName = await readAll(reader, body, erased);
    expect(withoutName).toEqual(await readAll(own, body, erased));
    expect(withoutName.lines.join('')).toContain(',BR-1,,Meridian,');
    const other: Sending = { kind: 'file', names: 'omit', incomplete: 'reject' };
    expect(await readAll(reader, other)).toEqual(await readAll(own, other));
    expect(threads).toHaveLength(4);
  });

  it('that is broken throws what its source throws', async () => {
    const { reader } = await prepare(`${bookings(5_600)}700001,BR-1,"Ana\n`);
    const error = await readAll(reader, file).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SourceError);
    expect(error).toMatchObject({ fault: 'unterminated-quote' });
    expect((error as Error).message).toContain('line 5602');
  });

  it('whose source refuses is refused by it, too', async () => {
    const refusal = new SourceError('unreadable', 'it refuses the login', { peer: 'refused' });
    const { port1, port2 } = new MessageChannel();
    const failing = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(refusal) }) };
    const [[workerData]] = await Promise.all([once(port2, 'message'), sendChunks(() => failing, port1)]);
    const thread = `const { parentPort, workerData } = require('node:worker_threads');
      parentPort.postMessage(workerData);
      parentPort.once('message', () => parentPort.close());`;
    const { reader } = await prepare(bookings(5_600), () => new Worker(thread, { eval: true, workerData }));
    const { fault, message, peer } = refusal;
    await expect(readAll(reader, file)).rejects.toMatchObject({ name: refusal.name, fault, message, peer });
  });

  it('lets the event loop turn after each chunk, however many wait', async () => {
    const { reader } = await prepare(bookings(5_600));
    const turnsBetween: number[] = [];
    const turns = countTurns();
    for await (const _ of reader.read(day, file, { signal: never })) {
      turnsBetween.push(turns.take());
      // Busy until the thread waits, so that all its chunks are there.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
    turns.stop();
    expect(turnsBetween.length).toBeGreaterThan(chunksAhead);
    expect(Math.min(...turnsBetween)).toBeGreaterThan(0);
  });

  it('ends its thread when aborted, and throws the reason', async () => {
    const { reader, threads } = await prepare(bookings(5_600));
    const stop = new AbortController();
    const reading = (async () => {
      for await (const _ of reader.read(day, file, { signal: stop.signal })) stop.abort(new Error('SIGTERM'));
    })();
    await expect(reading).rejects.toThrow('SIGTERM');
    await expectEnded(threads);
  });

  it('ends its thread when the reader stops early', async () => {
    const { reader, threads } = await prepare(bookings(5_600));
    for await (const _ of reader.read(day, file, { signal: never })) break;
    await expectEnded(threads);
  });

  it('tells what the source says about its clock', async () => {
    const thread = `const { parentPort } = require('node:worker_threads');
      parentPort.postMessage({ kind: 'clock', difference: { least: 1, most: 2 } });
      parentPort.postMessage({ kind: 'end' });
      parentPort.once('message', () => parentPort.close());`;
    const { reader, differences } = await prepare(bookings(5_600), () => new Worker(thread, { eval: true }));
    await readAll(reader, file);
    expect(differences).toEqual([{ least: 1, most: 2 }]);
  });

  it('whose thread dies is never taken for a short one', async () => {
    const { reader } = await prepare(bookings(5_600), () => new Worker('process.exit(0)', { eval: true }));
    await expect(readAll(reader, file)).rejects.toThrow('ended before the source did');
  });
});

describe('a small day', () => {
  it('is not worth a thread', async () => {
    const { reader, own, threads } = await prepare(bookings(100));
    expect(await readAll(reader, file)).toEqual(await readAll(own, file));
    expect(threads).toEqual([]);
  });
});

describe('the thread', () => {
  it('reads no further ahead than requested', async () => {
    const { port1, port2 } = new MessageChannel();
    let pulled = 0;
    async function* pull(): AsyncGenerator<RenderedChunk> {
      const { own } = await prepare(bookings(1));
      for (;;) {
        pulled += 1;
        yield* own.read(day, file, { signal: never });
      }
    }
    void sendChunks(pull, port1);
    await vi.waitUntil(() => pulled === chunksAhead + 1, { timeout: patienceMs });
    await once(port2, 'message');
    expect(pulled).toBe(chunksAhead + 1);
    port2.postMessage(more);
    await vi.waitUntil(() => pulled === chunksAhead + 2, { timeout: patienceMs });
    port1.close();
  });
});

async function prepare(csv: string, startThread?: () => Worker) {
  const path = join(folder, '{day}.csv');
  await writeFile(join(folder, `${day.iso}.csv`), csv);
  const source = createCsvSource({ file: createLocalDayFile(path) });
  const own = readerOf(source);
  const threads: Worker[] = [];
  const differences: (ClockDifference | undefined)[] = [];
  const startReading = (wanted: BusinessDay, sending: Sending, erased?: ErasedGuests) => {
    const order = createReadingOrder(
      {
        source: csvSettings(path),
        s3: {},
        proxy: {},
        retry: { tries: 1, baseSeconds: 1, capSeconds: 1 },
      },
      wanted,
      sending,
    );
    const thread =
      startThread?.() ??
      new Worker(new URL('../../../dist/jobs/processes/reading-thread.js', import.meta.url), {
        workerData: { ...order, erased },
      });
    threads.push(thread);
    return thread;
  };
  const note = (difference?: ClockDifference) => void differences.push(difference);
  const reader = createThreadedReader(own, source, startReading, { clock: Date.now, note });
  return { reader, own, threads, differences };
}

/** What was read, however it was cut into chunks on the way. */
async function readAll(reader: DayReader, wanted: Sending, erased?: ErasedGuests) {
  const all = {
    read: 0,
    lines: [] as string[],
    streams: [] as number[],
    places: [] as number[],
    progress: 0,
  };
  for await (const chunk of reader.read(day, wanted, { signal: never, erased })) {
    const { bytes, ends, streams, providers } = chunk.lines;
    all.read += chunk.read;
    all.lines.push(Buffer.from(bytes).toString());
    all.streams.push(...streams.subarray(0, providers.length));
    all.places.push(...chunk.rejects.map(({ place }) => place));
    all.progress = chunk.progress?.done ?? all.progress;
    const lineEnds = [...ends.subarray(0, providers.length)];
    expect(lineEnds.every((end) => bytes[end] === 0x0a)).toBe(true);
  }
  return all;
}

/** Some can't be in the file, some can't be sent, and names are in many scripts. */
function bookings(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => {
    const name = index % 7 === 0 ? '"Ørsted, ""Åse"""' : index % 11 === 0 ? '' : '李小龍';
    return `${index % 13 === 0 ? 'none' : 700_000 + index},BR-${index},${name},Meridian,H-${index},2026-12-01,2026-12-05,${remark}\n`;
  });
  return `${header}${lines.join('')}`;
}

async function expectEnded(threads: readonly Worker[]): Promise<void> {
  expect(threads).toHaveLength(1);
  // A thread that has ended has no id.
  await vi.waitUntil(() => threads.every(({ threadId }) => threadId === -1), { timeout: patienceMs });
}

function csvSettings(path: string): SourceSettings['source'] {
  return {
    kind: 'csv',
    path,
    columns: {},
    where: {},
    keep: {},
    maxRepeatedShare: 0.5,
    missing: [],
    dateFormat: 'yyyy-MM-dd',
    instants: 'auto',
    encoding: 'utf-8',
    delimiter: ',',
    skipRows: 0,
  };
}

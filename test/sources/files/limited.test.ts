import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { createDayFile, type FileStore } from '../../../src/sources/files/day-file.js';

const day = createBusinessDay('2026-11-20', 'UTC');
const megabyte = 1_000_000;

/** A file of these bytes, of which a server claims that there are `size`. */
function fileOf(bytes: Buffer, size = bytes.length): FileStore {
  return {
    locate: () => 'sftp://x/day.csv',
    async *read() {
      yield { bytes, size };
    },
  };
}

/** Counts what a reader receives until the file ends or is refused. */
async function readAll(store: FileStore, maxBytes: number) {
  const reading = { blockBytes: 65_536, signal: new AbortController().signal };
  let received = 0;
  try {
    for await (const { bytes } of createDayFile(store, maxBytes).read(day, reading)) received += bytes.length;
    return { received };
  } catch (error) {
    return { received, error };
  }
}

describe('a file of a day', () => {
  it('passes up to the limit', async () => {
    expect(await readAll(fileOf(Buffer.alloc(megabyte)), megabyte)).toEqual({ received: megabyte });
  });

  it('that claims more than the limit is refused before anything of it is read', async () => {
    expect(await readAll(fileOf(Buffer.alloc(10), 1e12), 20e9)).toMatchObject({
      received: 0,
      error: {
        name: 'SourceError',
        fault: 'unreadable',
        message:
          "sftp://x/day.csv has 1000000.0 MB, and at most 20000.0 MB are read: is it a day's bookings?",
      },
    });
  });

  it('that unpacks to more than the limit is refused there', async () => {
    const { received, error } = await readAll(fileOf(gzipSync(Buffer.alloc(5 * megabyte))), megabyte);
    expect(error).toMatchObject({ message: expect.stringContaining('has more than 1.0 MB') });
    expect(received).toBeLessThanOrEqual(megabyte);
  });

  it('that unpacks to a thousand times its size is refused long before its end', async () => {
    const bomb = gzipSync(Buffer.alloc(400 * megabyte));
    const { received, error } = await readAll(fileOf(bomb), 20e9);
    expect(error).toMatchObject({
      fault: 'unreadable',
      message: expect.stringContaining('unpacks to more than 200 times its size'),
    });
    expect(received).toBeLessThan(110 * megabyte);
  });

  it('that unpacks to fifty times its size is read to the end', async () => {
    const lines = Array.from({ length: 250_000 }, (_, number) => `${'x'.repeat(500)}${number * 7_919}\n`);
    const content = Buffer.from(lines.join(''));
    const packed = gzipSync(content);
    expect(content.length / packed.length).toBeGreaterThan(50);
    expect(await readAll(fileOf(packed), 20e9)).toEqual({ received: content.length });
  });
});

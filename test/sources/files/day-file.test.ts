import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SourceError, type SourceFault } from '../../../src/booking/source.js';
import { createDayFile, type FileStore, unpack } from '../../../src/sources/files/day-file.js';
import { createMarkedDayFile, openDayFile } from '../../../src/sources/files/open-day-file.js';
import { blocksOf } from '../../support/blocks.js';
import { withoutPrivileges } from '../../support/machine.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { day, expectFault, never, readFile } from '../reading.js';

const megabyte = 1_000_000;

describe('a file that arrives in pieces of any size', () => {
  const anySize = fc.integer({ min: 1, max: 100 });
  // Random bytes may begin with gzip's magic number.
  const isPlain = (content: Uint8Array) => content[0] !== 0x1f || content[1] !== 0x8b;

  it('is read in blocks of one size, decompressed if it is gzip, in several members, too', async () => {
    await fc.assert(
      fc.asyncProperty(
        ...([fc.uint8Array({ maxLength: 500 }), anySize, anySize, fc.nat(500), fc.boolean()] as const),
        async (content, step, size, cut, isPacked) => {
          fc.pre(isPlain(content));
          const members = [content.subarray(0, cut), content.subarray(cut)].map((part) => gzipSync(part));
          const bytes = isPacked ? Buffer.concat(members) : content;
          const pieces: Uint8Array[] = [];
          for (let at = 0; at < bytes.length; at += step) pieces.push(bytes.subarray(at, at + step));
          const blocks: Buffer[] = [];
          const reading = { path: 'x', blockBytes: size, signal: never() };
          for await (const block of unpack(blocksOf(...pieces), reading)) blocks.push(block);
          expect(Buffer.concat(blocks)).toEqual(Buffer.from(content));
          if (!isPacked)
            for (const block of blocks.slice(0, -1)) expect(block).toHaveLength(Math.max(2, size));
        },
      ),
    );
  });

  it.each([
    ['as it is', false],
    ['in gzip', true],
  ])('is closed when the reader stops early: %s', async (_, isPacked) => {
    let isLeft = false;
    async function* arrive() {
      try {
        const block = Buffer.alloc(100_000, 'x');
        for (;;) yield isPacked ? gzipSync(block, { level: 0 }) : block;
      } finally {
        isLeft = true;
      }
    }
    const reading = { path: 'x', blockBytes: 1_000, signal: never() };
    for await (const _block of unpack(arrive(), reading)) break;
    expect(isLeft).toBe(true);
  });
});

/** A file of these bytes, of which a server claims that there are `size`. */
function storeOf(bytes: Buffer, size = bytes.length): FileStore {
  return {
    locate: () => 'sftp://x/day.csv',
    async *read() {
      yield { bytes, size };
    },
  };
}

it('truncated or damaged gzip is always an error, never a short day', async () => {
  const first = gzipSync('ServiceId,b\n1,x\n');
  const whole = Buffer.concat([first, gzipSync('2,y\n')]);
  const readPacked = (bytes: Buffer) => readFile(createDayFile(storeOf(bytes)));
  for (let length = 2; length < whole.length; length++)
    if (length !== first.length)
      await expectFault(readPacked(whole.subarray(0, length)), 'truncated', /cut off or damaged/);
  await expectFault(readPacked(Buffer.concat([first, Buffer.from('2\n3\n')])), 'truncated', /damaged/);
  first.writeUInt32LE(7, first.length - 8);
  await expectFault(readPacked(first), 'truncated', /cut off or damaged/);
});

it.each<SourceFault>(['login-refused', 'unreadable', 'truncated'])(
  'a marker that cannot be looked for is %s, as it says itself, and never a day that is missing yet',
  async (fault) => {
    const failure = new SourceError(fault, 'who knows');
    const refuse = () => {
      throw failure;
    };
    const marker = createDayFile({ locate: () => 'sftp://x/day.done', read: refuse });
    const file = createDayFile(storeOf(Buffer.from('ServiceId\n1\n')));
    await expect(readFile(createMarkedDayFile(file, marker))).rejects.toBe(failure);
  },
);

describe('a file of a day', () => {
  /** Counts what a reader receives until the file ends or is refused. */
  async function readUpTo(store: FileStore, maxBytes: number) {
    let received = 0;
    try {
      const blocks = createDayFile(store, maxBytes).read(day, { blockBytes: 65_536, signal: never() });
      for await (const { bytes } of blocks) received += bytes.length;
      return { received };
    } catch (error) {
      return { received, error };
    }
  }
  /** Packed once: gzip may have several members. */
  const packed = (part: Buffer, times: number) => Buffer.concat(Array(times).fill(gzipSync(part)));

  it('passes up to the limit; one that claims more is refused before anything of it is read', async () => {
    expect(await readUpTo(storeOf(Buffer.alloc(megabyte)), megabyte)).toEqual({ received: megabyte });
    expect(await readUpTo(storeOf(Buffer.alloc(10), 1e12), 20e9)).toMatchObject({
      received: 0,
      error: {
        ...{ name: 'SourceError', fault: 'unreadable' },
        message:
          "sftp://x/day.csv has 1000000.0 MB, and at most 20000.0 MB are read: is it a day's bookings?",
      },
    });
  });

  it('that unpacks to more than the limit is refused there', async () => {
    const { received, error } = await readUpTo(storeOf(gzipSync(Buffer.alloc(5 * megabyte))), megabyte);
    expect(error).toMatchObject({ message: expect.stringContaining('has more than 1.0 MB') });
    expect(received).toBeLessThanOrEqual(megabyte);
  });

  it('that unpacks to a thousand times its size is refused, and to fifty times its size it is read', async () => {
    const bomb = packed(Buffer.alloc(10 * megabyte), 15);
    const { received, error } = await readUpTo(storeOf(bomb), 20e9);
    expect(error).toMatchObject({
      fault: 'unreadable',
      message: expect.stringContaining('unpacks to more than 200 times its size'),
    });
    expect(received).toBeLessThan(110 * megabyte);
    const lines = Array.from({ length: 2_000 }, (_, number) => `${'x'.repeat(500)}${number * 7_919}\n`);
    const text = Buffer.from(lines.join(''));
    const day = packed(text, 110);
    expect((text.length * 110) / day.length).toBeGreaterThan(50);
    expect(await readUpTo(storeOf(day), 20e9)).toEqual({ received: text.length * 110 });
  });
});

describe('a file on this machine', () => {
  function prepare() {
    const folder = makeTemporaryFolder();
    const at = (name: string) => join(folder, name);
    const open = (path = '{day}.csv', doneMarker?: string) => {
      const openBucket = () => Promise.reject(new TypeError('no bucket'));
      const marker = doneMarker === undefined ? {} : { doneMarker: at(doneMarker) };
      return openDayFile({ path: at(path), ...marker }, openBucket);
    };
    return { at, open };
  }

  it('is missing: the error names the path it looked for', async () => {
    const { at, open } = prepare();
    expect(await open().measure(day)).toBeUndefined();
    const error = await expectFault(readFile(open('no/{day:ddMMyyyy}.csv')), 'missing', /no file/);
    expect(error.message).toContain(at('no/20112026.csv'));
    writeFileSync(at('file'), '');
    await expectFault(readFile(open('file/{day}.csv')), 'missing', /no file/);
  });

  it.each<[string, RegExp, (path: string) => unknown]>([
    ['a folder', /2026-11-20\.csv is a folder, expected a file/, (path) => mkdirSync(path)],
    ['a device', /is a device, expected a file/, (path) => symlinkSync('/dev/null', path)],
    // It does not wait for a writer.
    ['a FIFO', /is a FIFO, expected a file/, (path) => execFileSync('mkfifo', [path])],
    ['a file that is not readable', /EACCES/, (path) => writeFileSync(path, 'ServiceId\n', { mode: 0 })],
  ])('is %s', async (_, words, make) => {
    const { at, open } = prepare();
    chmodSync(at('.'), 0o755);
    make(at('2026-11-20.csv'));
    await withoutPrivileges(() => expectFault(readFile(open()), 'unreadable', words));
  });

  it.each<[string, (path: string) => void]>([
    ['shrinks', (path) => truncateSync(path, 100_000)],
    ['grows', (path) => appendFileSync(path, '6\n')],
  ])('%s while it is read', async (_, change) => {
    const { at, open } = prepare();
    const path = at('2026-11-20.csv');
    writeFileSync(path, '5\n'.repeat(200_000));
    const reading = readFile(open(), (count) => {
      if (count === 1) change(path);
    });
    await expectFault(reading, 'truncated', /changed while/);
  });

  it('is not there yet without its marker, whatever it holds, and is once there is one, empty or not', async () => {
    const { at, open } = prepare();
    writeFileSync(at('2026-11-20.csv'), 'ServiceId\n1\n');
    writeFileSync(at('19112026.done'), '');
    const file = open('{day}.csv', '{day:ddMMyyyy}.done');
    expect(await file.measure(day)).toBe(12);
    const read = () => readFile(file);
    const error = await expectFault(
      read(),
      'missing',
      /is not marked as complete: there is no .*20112026\.done/,
    );
    expect(error.message).toBe(
      `${at('2026-11-20.csv')} is not marked as complete: there is no ${at('20112026.done')} (source.doneMarker)`,
    );
    for (const content of ['', 'rows=1\n']) {
      writeFileSync(at('20112026.done'), content);
      expect(String(await read())).toBe('ServiceId\n1\n');
    }
  });
});

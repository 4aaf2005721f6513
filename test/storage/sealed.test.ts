import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { createKeyFolder } from '../../src/storage/day-keys.js';
import {
  createFileSealer,
  measureContent,
  openFile,
  openValue,
  sealBytes,
  sealFile,
  sealValue,
} from '../../src/storage/sealed.js';

const folder = mkdtempSync(join(tmpdir(), 'keys-'));
afterAll(() => rmSync(folder, { recursive: true }));
const keys = createKeyFolder(join(folder, 'keys'));
const day = '2026-11-20';
const chunk = 256 * 1024;
const sealedChunk = chunk + sealBytes;

async function* inBlocks(content: Buffer, size: number) {
  for (let from = 0; from < content.length; from += size) yield content.subarray(from, from + size);
}

async function collect(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const blocks: Buffer[] = [];
  for await (const block of content) blocks.push(Buffer.from(block));
  return Buffer.concat(blocks);
}

const seal = (content: Buffer, blockSize = 100_000) =>
  collect(sealFile(keys, day, inBlocks(content, blockSize), 'a.csv'));
const open = (stored: Buffer, blockSize = 100_000, place = 'a.csv') =>
  collect(openFile(keys, inBlocks(stored, blockSize), place));

describe('an encrypted file', () => {
  it.each([0, chunk, chunk + 1, 5 * chunk + 7])(
    'says that its content has %i bytes without decrypting it',
    async (size) => {
      const stored = await seal(randomBytes(size));
      expect(measureContent(stored.length, stored)).toBe(size);
      expect(measureContent(size, randomBytes(size))).toBe(size);
    },
  );

  it.each([0, 1, chunk, chunk + 1, 3 * chunk + 7])(
    'of %i bytes is read as it was, whatever the blocks',
    async (size) => {
      const content = randomBytes(size);
      const sizes = fc.integer({ min: 1, max: 3 * chunk });
      await fc.assert(
        fc.asyncProperty(sizes, sizes, async (written, read) => {
          const stored = await seal(content, Math.max(written, size / 50));
          expect((await open(stored, Math.max(read, size / 50))).equals(content)).toBe(true);
        }),
        { numRuns: 6 },
      );
    },
  );

  it('shows nothing of its content, and differs each time', async () => {
    const content = Buffer.from('Ana Gil;'.repeat(20_000));
    const [one, other] = [await seal(content), await seal(content)];
    expect(one.includes('Ana Gil')).toBe(false);
    expect(one.equals(other)).toBe(false);
  });

  it.each<[string, (stored: Buffer) => Buffer]>([
    ['its end is cut off within a chunk', (stored) => stored.subarray(0, stored.length - 5)],
    ['its last chunk is missing', (stored) => stored.subarray(0, 3 * sealedChunk)],
    ['it ends in its heading', (stored) => stored.subarray(0, 40)],
    ['a byte was changed', (stored) => changeByte(stored, 70_000)],
    ['its heading was changed', (stored) => changeByte(stored, 41)],
    ['the mark of a later chunk was changed', (stored) => changeByte(stored, sealedChunk)],
    ['a nonce was changed', (stored) => changeByte(stored, 50)],
    [
      'two chunks were exchanged',
      (stored) =>
        Buffer.concat([
          stored.subarray(sealedChunk, 2 * sealedChunk),
          stored.subarray(0, sealedChunk),
          stored.subarray(2 * sealedChunk),
        ]),
    ],
    ['a chunk is there twice', (stored) => Buffer.concat([stored.subarray(0, sealedChunk), stored])],
    ['something follows it', (stored) => Buffer.concat([stored, Buffer.from('more')])],
  ])('is refused when %s', async (_, change) => {
    const stored = await seal(randomBytes(3 * chunk + 1_000));
    await expect(open(change(stored))).rejects.toMatchObject({ name: 'KeyError' });
  });

  it('is refused with a chunk of another version of it', async () => {
    const content = randomBytes(3 * chunk);
    const [one, other] = [await seal(content), await seal(content)];
    const mixed = Buffer.concat([one.subarray(0, sealedChunk), other.subarray(sealedChunk)]);
    await expect(open(mixed)).rejects.toMatchObject({ code: 'damaged' });
  });

  it('whose writer was stopped is read as far as it goes', async () => {
    const content = randomBytes(6 * chunk);
    const sealer = createFileSealer(keys, day, 'a.csv');
    const stored = Buffer.concat(Array.from(sealer.take(content), (block) => Buffer.from(block)));
    const read = await collect(openFile(keys, inBlocks(stored, 1_000), 'a.csv', { mayEndEarly: true }));
    expect(read.length).toBeGreaterThanOrEqual(chunk);
    expect(content.subarray(0, read.length).equals(read)).toBe(true);
  });

  it('that is not encrypted is passed through unchanged', async () => {
    for (const text of ['', 'x', 'a,b\n'.repeat(100)])
      expect((await open(Buffer.from(text), 7)).toString()).toBe(text);
  });
});

describe('an encrypted value', () => {
  it('is read from its own place only', () => {
    const stored = sealValue(keys, day, Buffer.from('Ana Gil'), 'batch 1');
    expect(stored.includes('Ana')).toBe(false);
    expect(openValue(keys, stored, 'batch 1').toString()).toBe('Ana Gil');
    expect(() => openValue(keys, stored, 'batch 2')).toThrow(
      'batch 2 is encrypted, and its bytes are damaged',
    );
    expect(() => openValue(keys, changeByte(stored, stored.length - 1), 'batch 1')).toThrow('damaged');
    expect(() => openValue(undefined, stored, 'batch 1')).toThrow('the setting keys is missing');
    expect(openValue(undefined, Buffer.from('plain'), 'batch 1').toString()).toBe('plain');
  });
});

function changeByte(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}

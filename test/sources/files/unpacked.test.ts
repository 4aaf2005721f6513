import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unpack } from '../../../src/sources/files/day-file.js';

const readingIn = (blockBytes: number) => ({ path: 'x', blockBytes, signal: new AbortController().signal });

describe('a file that arrives in pieces of any size', () => {
  const anyPieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 });
  const anySize = fc.integer({ min: 1, max: 50 });
  // Random bytes may begin with gzip's magic number.
  const isPlain = (content: Buffer) => content[0] !== 0x1f || content[1] !== 0x8b;

  it('is read in blocks of one size', async () => {
    await fc.assert(
      fc.asyncProperty(anyPieces, anySize, async (pieces, size) => {
        const content = Buffer.concat(pieces);
        fc.pre(isPlain(content));
        const blocks: Buffer[] = [];
        for await (const block of unpack(iterate(pieces), readingIn(size))) blocks.push(block);
        expect(Buffer.concat(blocks)).toEqual(content);
        for (const block of blocks.slice(0, -1)) expect(block).toHaveLength(Math.max(2, size));
      }),
    );
  });

  it('is decompressed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), anySize, anySize, async (bytes, step, size) => {
        const packed = gzipSync(bytes);
        const pieces: Buffer[] = [];
        for (let at = 0; at < packed.length; at += step) pieces.push(packed.subarray(at, at + step));
        const blocks: Buffer[] = [];
        for await (const block of unpack(iterate(pieces), readingIn(size))) blocks.push(block);
        expect(Buffer.concat(blocks)).toEqual(Buffer.from(bytes));
      }),
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
    for await (const _block of unpack(arrive(), readingIn(1_000))) break;
    expect(isLeft).toBe(true);
  });
});

async function* iterate(pieces: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

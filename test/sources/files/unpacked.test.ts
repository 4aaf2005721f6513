import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toFixedBlocks } from '../../../src/base/content.js';
import { unpackBlocks } from '../../../src/sources/files/day-file.js';

const never = () => new AbortController().signal;

describe('pieces of any size', () => {
  it('become blocks of one size, which are announced beforehand', async () => {
    const anyPieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(anyPieces, fc.integer({ min: 1, max: 50 }), async (pieces, size) => {
        const blocks: Buffer[] = [];
        const announced: number[] = [];
        for await (const block of toFixedBlocks(iterate(pieces), size, (bytes) => announced.push(bytes))) {
          blocks.push(block);
          expect(announced.at(-1)).toBe(block.length);
        }
        expect(Buffer.concat(blocks)).toEqual(Buffer.concat(pieces));
        for (const block of blocks.slice(0, -1)) expect(block).toHaveLength(size);
        expect(announced).toHaveLength(blocks.length);
      }),
    );
  });
});

describe('a file that arrives in blocks of any size', () => {
  it.each([
    ['as it is', (content: Buffer) => content],
    ['in gzip', (content: Buffer) => gzipSync(content)],
  ])('is decompressed if needed: %s', async (_, pack) => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 500 }),
        fc.integer({ min: 1, max: 50 }),
        async (bytes, size) => {
          const content = Buffer.from(bytes);
          // Random bytes may begin with gzip's magic number.
          if (content[0] === 0x1f && content[1] === 0x8b) return;
          const packed = toFixedBlocks(iterate([pack(content)]), size, () => {});
          const reading = { path: 'x', blockBytes: size, signal: never() };
          const blocks: Buffer[] = [];
          for await (const block of unpackBlocks(packed, {
            ...reading,
            progress: () => ({ done: 0, total: 0 }),
          }))
            blocks.push(block.bytes);
          expect(Buffer.concat(blocks)).toEqual(content);
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
    for await (const _block of unpackBlocks(arrive(), {
      path: 'x',
      blockBytes: 1_000,
      signal: never(),
      progress: () => ({ done: 0, total: 0 }),
    }))
      break;
    expect(isLeft).toBe(true);
  });
});

async function* iterate(pieces: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

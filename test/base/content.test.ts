import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockBytes, readBlocks } from '../../src/base/content.js';

/** Bytes that differ from their neighbours and from those a block later. */
const makeBytes = (length: number) =>
  Buffer.from(Array.from({ length }, (_, at) => (at * 7 + (at >> 10)) % 251));

describe('readBlocks', () => {
  it('returns every byte in order, whatever the reads return', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(700_000),
        fc.array(fc.integer({ min: 4_096, max: blockBytes })),
        async (length, sizes) => {
          const bytes = makeBytes(length);
          const seen: Buffer[] = [];
          for await (const block of readBlocks(readerOf(bytes, sizes))) {
            seen.push(Buffer.from(block));
            block.fill(0);
          }
          expect(Buffer.concat(seen).equals(bytes)).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('throws the error of a read after the blocks before it', async () => {
    let reads = 0;
    const blocks = readBlocks(async () => {
      reads += 1;
      if (reads === 2) throw new Error('disk failure');
      return { bytesRead: 3 };
    });
    expect((await blocks.next()).value).toHaveLength(3);
    await expect(blocks.next()).rejects.toThrow('disk failure');
  });
});

/** Reads as a file would, but never more than the next of these sizes. */
function readerOf(bytes: Buffer, sizes: readonly number[] = []) {
  let [position, reads] = [0, 0];
  return async (buffer: Buffer) => {
    const most = sizes[reads % Math.max(1, sizes.length)] ?? buffer.length;
    const some = bytes.subarray(position, position + Math.min(most, buffer.length));
    reads += 1;
    position += some.length;
    await new Promise((resolve) => setImmediate(resolve));
    some.copy(buffer);
    return { bytesRead: some.length };
  };
}

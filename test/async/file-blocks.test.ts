import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockBytes, readBlocks, writeBlocks } from '../../src/async/file-blocks.js';
import { createGate } from '../support/gate.js';

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

  it('reads the next block while one is in use, and leaves that one alone', async () => {
    const bytes = makeBytes(2 * blockBytes);
    let reads = 0;
    const read = readerOf(bytes);
    const blocks = readBlocks((buffer) => {
      reads += 1;
      return read(buffer);
    });
    const { value } = await blocks.next();
    expect(reads).toBe(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(value?.equals(bytes.subarray(0, blockBytes))).toBe(true);
    await blocks.return();
  });

  it('ends only after the read in progress if the reader stops early', async () => {
    const answered = createGate();
    let reads = 0;
    const blocks = readBlocks(async () => {
      reads += 1;
      if (reads === 2) await answered.passed;
      return { bytesRead: 1 };
    });
    await blocks.next();
    let hasEnded = false;
    const ended = blocks.return().then(() => {
      hasEnded = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).toBe(false);
    answered.open();
    await ended;
  });

  it('throws the error of a read after the blocks before it', async () => {
    let reads = 0;
    const blocks = readBlocks(async () => {
      reads += 1;
      if (reads === 2) throw new Error('disk failure');
      return { bytesRead: 3 };
    });
    expect((await blocks.next()).value).toHaveLength(3);
    // Nobody waits for the second read while the first block is in use.
    await new Promise((resolve) => setImmediate(resolve));
    await expect(blocks.next()).rejects.toThrow('disk failure');
  });
});

describe('writeBlocks', () => {
  it('writes every byte in order, in blocks of one size, whatever the content comes in', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(400_000), { maxLength: 5 }), async (sizes) => {
        const bytes = makeBytes(sizes.reduce((sum, size) => sum + size, 0));
        const written: Buffer[] = [];
        await writeBlocks(cut(bytes, sizes), async (block) => {
          await new Promise((resolve) => setImmediate(resolve));
          written.push(Buffer.from(block));
        });
        expect(Buffer.concat(written).equals(bytes)).toBe(true);
        for (const block of written.slice(0, -1)) expect(block).toHaveLength(blockBytes);
      }),
      { numRuns: 20 },
    );
  });

  it('reads on while a block is written, but writes one at a time', async () => {
    const finished = createGate();
    const taken: number[] = [];
    let writes = 0;
    async function* content() {
      for (let index = 0; index < 3; index += 1) {
        taken.push(index);
        yield Buffer.alloc(blockBytes);
      }
    }
    const work = writeBlocks(content(), async () => {
      writes += 1;
      await finished.passed;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([taken, writes]).toEqual([[0, 1], 1]);
    finished.open();
    await work;
    expect(writes).toBe(3);
  });

  it.each([1, 2, 3])('throws the error of write %i of three, and lets the content end', async (failing) => {
    let writes = 0;
    let hasEnded = false;
    async function* content() {
      try {
        for (let index = 0; index < 3; index += 1) {
          yield Buffer.alloc(blockBytes);
          // Nobody waits for the write meanwhile.
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        hasEnded = true;
      }
    }
    const work = writeBlocks(content(), async () => {
      writes += 1;
      if (writes === failing) throw new Error('disk full');
    });
    await expect(work).rejects.toThrow('disk full');
    expect(hasEnded).toBe(true);
  });

  it('throws what the content throws, after the write in progress', async () => {
    const finished = createGate();
    async function* content() {
      yield Buffer.alloc(blockBytes);
      throw new Error('content failed');
    }
    let hasEnded = false;
    const work = writeBlocks(content(), () => finished.passed).finally(() => {
      hasEnded = true;
    });
    work.catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).toBe(false);
    finished.open();
    await expect(work).rejects.toThrow('content failed');
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

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let from = 0;
  for (const size of sizes) {
    // The content may use its memory again.
    const piece = Buffer.from(bytes.subarray(from, from + size));
    yield piece;
    piece.fill(0);
    from += size;
  }
}

import { createHash } from 'node:crypto';

/** Measures content that passes through: its size, and its SHA-256 in hexadecimal. */
export function createMeasure() {
  const hash = createHash('sha256');
  let bytes = 0;
  let sha256: string | undefined;
  return {
    async *pass(
      content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    ): AsyncGenerator<Uint8Array, void, undefined> {
      for await (const block of content) {
        hash.update(block);
        bytes += block.length;
        yield block;
      }
    },
    result() {
      sha256 ??= hash.digest('hex');
      return { bytes, sha256 };
    },
  };
}

/** Reads content to its end. */
export async function measure(content: AsyncIterable<Uint8Array>) {
  const measured = createMeasure();
  for await (const _ of measured.pass(content));
  return measured.result();
}

/** Large enough that the way to the disk and back costs little. */
export const blockBytes = 256 * 1024;

/**
 * Reads a file to its end. A block is valid until the next one is read.
 *
 * @param read fills a buffer, or its beginning, from the file
 */
export async function* readBlocks(
  read: (buffer: Buffer) => Promise<{ readonly bytesRead: number }>,
): AsyncGenerator<Buffer, void, undefined> {
  const buffer = Buffer.allocUnsafe(blockBytes);
  for (;;) {
    const { bytesRead } = await read(buffer);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Regroups pieces of any size into blocks of one size; the last may be smaller. Each piece must be in memory of its own. */
export async function* toFixedBlocks(
  pieces: AsyncIterable<Uint8Array>,
  blockBytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  let waiting: Buffer[] = [];
  let length = 0;
  for await (const { buffer, byteOffset, byteLength } of pieces) {
    waiting.push(Buffer.from(buffer, byteOffset, byteLength));
    length += byteLength;
    if (length < blockBytes) continue;
    const joined = waiting.length === 1 && waiting[0] ? waiting[0] : Buffer.concat(waiting);
    const end = length - (length % blockBytes);
    for (let at = 0; at < end; at += blockBytes) yield joined.subarray(at, at + blockBytes);
    length -= end;
    waiting = length > 0 ? [joined.subarray(end)] : [];
  }
  if (length > 0) yield Buffer.concat(waiting);
}

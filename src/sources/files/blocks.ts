import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { SourceError } from '../../review/source.js';
import { codeOf } from '../../text/safe-error.js';
import type { FileBlock, FileReading } from './day-file.js';

/** The smallest output block size that zlib accepts. */
const leastGunzipBlock = 64;

interface Unpacking extends FileReading {
  /** For messages. */
  readonly place: string;
  readonly progress: () => FileBlock['progress'];
}

/**
 * Yields the bytes of a file, decompressed if they begin with gzip's magic number. The file's name doesn't matter.
 *
 * @throws SourceError `truncated` for damaged gzip data; what `packed` throws; the signal's reason when it aborts
 */
export async function* unpackBlocks(
  packed: AsyncIterable<Buffer>,
  { place, blockBytes, signal, progress }: Unpacking,
): AsyncGenerator<FileBlock, void, undefined> {
  const arriving = packed[Symbol.asyncIterator]();
  try {
    const head = await readHead(arriving);
    const whole = resume(head, arriving);
    const bytes = isGzip(head)
      ? pipeline(
          Readable.from(whole),
          createGunzip({ chunkSize: Math.max(blockBytes, leastGunzipBlock) }),
          () => {
            // The loop below receives the same error.
          },
        )
      : whole;
    for await (const block of bytes as AsyncIterable<Buffer>) {
      yield { bytes: block, progress: progress() };
      // The reader stops on its own, but the decompressor may still hold blocks.
      signal.throwIfAborted();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw explainGzip(error, place);
  } finally {
    await arriving.return?.();
  }
}

/** Reads enough blocks for gzip's two magic bytes; fewer if the file is shorter. */
async function readHead(arriving: AsyncIterator<Buffer>): Promise<readonly Buffer[]> {
  const blocks: Buffer[] = [];
  for (let length = 0; length < 2; ) {
    const { done, value } = await arriving.next();
    if (done === true) break;
    blocks.push(value);
    length += value.length;
  }
  return blocks;
}

function isGzip(head: readonly Buffer[]): boolean {
  const [first, second] = Buffer.concat(head);
  return first === 0x1f && second === 0x8b;
}

async function* resume(
  head: readonly Buffer[],
  arriving: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  yield* head;
  for (;;) {
    const { done, value } = await arriving.next();
    if (done === true) return;
    yield value;
  }
}

function explainGzip(error: unknown, place: string): unknown {
  const code = codeOf(error) ?? '';
  return code.startsWith('Z_')
    ? new SourceError('truncated', `${place} is a gzip file that is cut off or damaged (${code})`, {
        cause: error,
      })
    : error;
}

/**
 * Regroups pieces of any size into blocks of one size; the last may be smaller.
 *
 * @param onBlock called before each block with its size in bytes
 */
export async function* toFixedBlocks(
  pieces: AsyncIterable<Uint8Array>,
  blockBytes: number,
  onBlock: (bytes: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  let waiting: Buffer[] = [];
  let length = 0;
  for await (const piece of pieces) {
    let rest = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    while (length + rest.length >= blockBytes) {
      const taken = rest.subarray(0, blockBytes - length);
      onBlock(blockBytes);
      yield waiting.length === 0 ? taken : Buffer.concat([...waiting, taken]);
      rest = rest.subarray(taken.length);
      waiting = [];
      length = 0;
    }
    if (rest.length > 0) waiting.push(rest);
    length += rest.length;
  }
  if (length === 0) return;
  onBlock(length);
  yield Buffer.concat(waiting);
}

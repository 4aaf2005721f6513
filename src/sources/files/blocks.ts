import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { SourceError } from '../../review/source.js';
import type { FileBlock, FileReading } from './day-file.js';

/** The least that zlib accepts as the size of its output blocks. */
const leastGunzipBlock = 64;

interface Unpacking extends FileReading {
  /** For messages. */
  readonly place: string;
  readonly progress: () => FileBlock['progress'];
}

/**
 * The bytes of a file, decompressed when it begins as gzip does, whatever it is called.
 *
 * @throws SourceError `truncated` for a broken gzip; what the reading throws; the signal's reason when it aborts
 */
export async function* unpackBlocks(
  packed: AsyncIterable<Buffer>,
  { place, blockBytes, signal, progress }: Unpacking,
): AsyncGenerator<FileBlock, void, undefined> {
  const arriving = packed[Symbol.asyncIterator]();
  try {
    const beginning = await takeBeginning(arriving);
    const whole = goOn(beginning, arriving);
    const bytes = isGzip(beginning)
      ? pipeline(
          Readable.from(whole),
          createGunzip({ chunkSize: Math.max(blockBytes, leastGunzipBlock) }),
          () => {
            // The iteration below meets the same error.
          },
        )
      : whole;
    for await (const block of bytes as AsyncIterable<Buffer>) {
      yield { bytes: block, progress: progress() };
      // The reading was told too, but the decompressing may have blocks in hand.
      signal.throwIfAborted();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw explainGzip(error, place);
  } finally {
    await arriving.return?.();
  }
}

/** As many blocks as hold the two bytes by which gzip is known; fewer of a shorter file. */
async function takeBeginning(arriving: AsyncIterator<Buffer>): Promise<readonly Buffer[]> {
  const blocks: Buffer[] = [];
  for (let length = 0; length < 2; ) {
    const { done, value } = await arriving.next();
    if (done === true) break;
    blocks.push(value);
    length += value.length;
  }
  return blocks;
}

function isGzip(beginning: readonly Buffer[]): boolean {
  const [first, second] = Buffer.concat(beginning);
  return first === 0x1f && second === 0x8b;
}

async function* goOn(
  beginning: readonly Buffer[],
  arriving: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  yield* beginning;
  for (;;) {
    const { done, value } = await arriving.next();
    if (done === true) return;
    yield value;
  }
}

function explainGzip(error: unknown, place: string): unknown {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return code.startsWith('Z_')
    ? new SourceError('truncated', `${place} is a gzip file that is cut off or damaged (${code})`, {
        cause: error,
      })
    : error;
}

/**
 * What comes in pieces of any size, in blocks of one size; the last may be smaller.
 *
 * @param onBlock told how many bytes the next block has
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

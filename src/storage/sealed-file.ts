import type { DayKeys } from './day-keys.js';
import { damaged, isSealed, markBytes, nonceOf, openValue, sealBytes, sealValue } from './sealed-value.js';

/**
 * An encrypted file: chunks of 256 KiB, each encrypted as a value; only the last one may be shorter, and there always is one. A
 * chunk's context holds its number, whether it is the last, and the nonce of the first one, so that chunks can't be moved, not even
 * from another version of the file, and a cut-off end is noticed.
 */
const chunkBytes = 256 * 1024;
const sealedChunkBytes = chunkBytes + sealBytes;

/** Converts content that arrives in pieces of any size. What it returns is only valid until the next call or iteration. */
interface ChunkConverter {
  /** Takes the next bytes, which stay the caller's, and returns what became of the chunks that are complete, often nothing. */
  take(bytes: Uint8Array): Generator<Buffer, void, undefined>;
  /** Returns the rest. */
  end(): Buffer;
}

/** @param context where it is stored: it can't be read from anywhere else */
export function createFileSealer(keys: DayKeys, day: string, context: string): ChunkConverter {
  let first = '';
  return convertChunks(chunkBytes, (chunk, part) => {
    const sealed = sealValue(keys, day, chunk, context, part + first);
    first ||= nonceOf(sealed);
    return sealed;
  });
}

/** Encrypts a file's content. A block is valid until the next one is read. Rethrows what the content throws. */
export async function* sealFile(
  keys: DayKeys,
  day: string,
  content: AsyncIterable<Uint8Array>,
  context: string,
): AsyncGenerator<Buffer, void, undefined> {
  const sealer = createFileSealer(keys, day, context);
  for await (const block of content) yield* sealer.take(block);
  yield sealer.end();
}

/**
 * Decrypts a file's content; one that is not encrypted passes as it is. A block is valid until the next one is read.
 * Rethrows what `stored` throws.
 *
 * @param mayEndEarly for a file whose writer was stopped: returns its complete chunks
 * @throws KeyError for a truncated or changed file, after the chunks that precede the fault
 */
export async function* openFile(
  keys: DayKeys | undefined,
  stored: AsyncIterable<Uint8Array>,
  context: string,
  { mayEndEarly = false } = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  let first = '';
  const opener = convertChunks(sealedChunkBytes, (chunk, part) => {
    if (!isSealed(chunk)) throw damaged(context);
    const plain = openValue(keys, chunk, context, part + first);
    first ||= nonceOf(chunk);
    return plain;
  });
  /** Too few bytes to tell whether it is encrypted. */
  let begun = Buffer.alloc(0);
  let isEncrypted: boolean | undefined;
  for await (const block of stored) {
    const bytes: Uint8Array = isEncrypted === undefined ? Buffer.concat([begun, block]) : block;
    if (isEncrypted === undefined && bytes.length < markBytes) {
      begun = Buffer.from(bytes);
      continue;
    }
    isEncrypted ??= isSealed(bytes);
    if (isEncrypted) yield* opener.take(bytes);
    else yield bytes;
  }
  if (isEncrypted === undefined && begun.length > 0) yield begun;
  if (isEncrypted && !mayEndEarly) yield opener.end();
}

/** How much content a file holds, judged by its size and first bytes, without decrypting it. */
export function measureContent(size: number, begun: Uint8Array): number {
  return isSealed(begun) ? Math.max(0, size - Math.ceil(size / sealedChunkBytes) * sealBytes) : size;
}

/**
 * A chunk is only converted when more arrives, because only then is it certain not to be the last.
 *
 * @param convert is told the chunk's number, and whether it is the last, as a text
 */
function convertChunks(size: number, convert: (chunk: Buffer, part: string) => Buffer): ChunkConverter {
  const chunk = Buffer.allocUnsafe(size);
  let length = 0;
  let number = 0;
  return {
    *take(bytes) {
      for (let from = 0; from < bytes.length; ) {
        if (length === size) {
          yield convert(chunk, ` chunk ${number} `);
          number += 1;
          length = 0;
        }
        const piece = bytes.subarray(from, from + size - length);
        chunk.set(piece, length);
        length += piece.length;
        from += piece.length;
      }
    },
    end: () => convert(chunk.subarray(0, length), ` last chunk ${number} `),
  };
}

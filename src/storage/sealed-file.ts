import { hkdfSync, randomBytes } from 'node:crypto';
import type { DayKey, DayKeys } from './day-keys.js';
import {
  damaged,
  decrypt,
  type Encryption,
  encryptTo,
  findKey,
  headingBytes,
  isSealed,
  nonceBytes,
  readHeading,
  tagBytes,
  writeHeading,
} from './sealed-value.js';

/**
 * An encrypted file: a heading, a random salt, and chunks of 256 KiB with a tag each; only the last chunk may be shorter,
 * and there always is one. Each file has its own key, derived from the day's key, the salt and the file's context. A chunk's
 * nonce holds its number and whether it is the last, so that chunks can't be moved, and a cut-off end is noticed.
 */
const chunkBytes = 256 * 1024;
const sealedChunkBytes = chunkBytes + tagBytes;
const saltBytes = 16;
const startBytes = headingBytes + saltBytes;
const noContext = Buffer.alloc(0);

/** Converts content that arrives in pieces of any size. What it returns is only valid until the next call or iteration. */
interface ChunkConverter {
  /** Takes the next bytes, which stay the caller's, and returns what became of the chunks that are complete, often nothing. */
  take(bytes: Uint8Array): Generator<Buffer, void, undefined>;
  /** Returns the rest. */
  end(): Buffer;
}

/** @param context where it is stored: it can't be read from anywhere else */
export function createFileSealer(keys: DayKeys, day: string, context: string): ChunkConverter {
  const key = keys.use(day);
  const start = Buffer.concat([writeHeading(key), randomBytes(saltBytes)]);
  const nextEncryption = createEncryptions(key, start, context);
  const sealed = Buffer.allocUnsafe(startBytes + sealedChunkBytes);
  let filled = start.copy(sealed);
  return convertChunks(chunkBytes, (chunk, isLast) => {
    const end = encryptTo(sealed, filled, chunk, nextEncryption(isLast));
    filled = 0;
    return sealed.subarray(0, end);
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
  let opener: ChunkConverter | undefined;
  let isPlain = false;
  let begun = noContext;
  for await (const block of stored) {
    if (isPlain) yield block;
    else if (opener) yield* opener.take(block);
    else {
      begun = Buffer.concat([begun, block]);
      if (begun.length < startBytes) continue;
      if (isSealed(begun)) {
        const start = begun.subarray(0, startBytes);
        opener = createFileOpener(keys, start, context);
        yield* opener.take(begun.subarray(startBytes));
      } else {
        isPlain = true;
        yield begun;
      }
    }
  }
  if (mayEndEarly && isSealed(begun)) return;
  if (opener) yield opener.end();
  else if (!isPlain && isSealed(begun)) throw damaged(context);
  else if (!isPlain && begun.length > 0) yield begun;
}

function createFileOpener(keys: DayKeys | undefined, start: Buffer, context: string): ChunkConverter {
  const heading = readHeading(start);
  if (!heading) throw damaged(context);
  const nextEncryption = createEncryptions(findKey(keys, heading, context), start, context);
  return convertChunks(sealedChunkBytes, (chunk, isLast) => {
    const plain = decrypt(chunk, nextEncryption(isLast));
    if (!plain) throw damaged(context);
    return plain;
  });
}

/** How much content a file holds, judged by its size and first bytes, without decrypting it. */
export function measureContent(size: number, begun: Uint8Array): number {
  if (!isSealed(begun)) return size;
  const sealed = size - startBytes;
  return Math.max(0, sealed - Math.ceil(sealed / sealedChunkBytes) * tagBytes);
}

/** A chunk is only converted when more arrives, because only then is it certain not to be the last. */
function convertChunks(size: number, convert: (chunk: Buffer, isLast: boolean) => Buffer): ChunkConverter {
  const chunk = Buffer.allocUnsafe(size);
  let length = 0;
  return {
    *take(bytes) {
      for (let from = 0; from < bytes.length; ) {
        if (length === size) {
          yield convert(chunk, false);
          length = 0;
        }
        const piece = bytes.subarray(from, from + size - length);
        chunk.set(piece, length);
        length += piece.length;
        from += piece.length;
      }
    },
    end: () => convert(chunk.subarray(0, length), true),
  };
}

/** The file's own key, with a nonce for each chunk in turn: its number, and whether it is the last. */
function createEncryptions({ secret: dayKey }: DayKey, start: Buffer, context: string) {
  const info = Buffer.concat([start.subarray(0, headingBytes), Buffer.from(context)]);
  const secret = Buffer.from(hkdfSync('sha256', dayKey, start.subarray(headingBytes), info, 32));
  let number = 0;
  return (isLast: boolean): Encryption => {
    const nonce = Buffer.alloc(nonceBytes);
    nonce.writeUIntBE(number, 5, 6);
    nonce[11] = Number(isLast);
    number += 1;
    return { secret, nonce, context: noContext };
  };
}

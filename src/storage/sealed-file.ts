import { hkdfSync, randomBytes } from 'node:crypto';
import { decrypt, encryptTo, tagBytes } from './cipher.js';
import type { DayKeys } from './day-keys.js';
import { damaged, findKey, headingBytes, isSealed, readHeading, writeHeading } from './sealed-value.js';

/**
 * An encrypted file: a heading, a random salt, and chunks of 64 KiB with a tag each; only the last chunk may be shorter,
 * and there always is one. Each file has its own key, derived from the day's key, the salt and the file's place. A chunk's
 * nonce holds its number and whether it is the last, so that chunks can't be moved, and a cut-off end is noticed.
 */
const chunkBytes = 64 * 1024;
const sealedChunkBytes = chunkBytes + tagBytes;
const saltBytes = 16;
const startBytes = headingBytes + saltBytes;
const noContext = Buffer.alloc(0);

/** How many chunks are handed on together. */
const chunksTogether = 4;

/** Encrypts content that arrives in pieces of any size. What it returns is only valid until the next call or iteration. */
interface FileSealer {
  /** Takes the next bytes, which stay the caller's, and returns what to write, often nothing. */
  take(bytes: Uint8Array): Iterable<Buffer>;
  /** Returns the rest. */
  end(): Buffer;
}

/** @param place where it is stored: it can't be read from any other place */
export function createFileSealer(keys: DayKeys, day: string, place: string): FileSealer {
  const key = keys.use(day);
  const start = Buffer.concat([writeHeading(key), randomBytes(saltBytes)]);
  const secret = deriveKey(key.secret, start, place);
  const nextNonce = createNonces();
  // Sealed only when more arrives, because only then is it certain not to be the last.
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let length = 0;
  const sealed = Buffer.allocUnsafe(startBytes + chunksTogether * sealedChunkBytes);
  let filled = start.copy(sealed);

  function sealChunk(isLast: boolean): void {
    const encryption = { secret, nonce: nextNonce(isLast), context: noContext };
    filled = encryptTo(sealed, filled, chunk.subarray(0, length), encryption);
    length = 0;
  }

  function handOver(): Buffer {
    const bytes = sealed.subarray(0, filled);
    filled = 0;
    return bytes;
  }

  return {
    *take(bytes) {
      for (let from = 0; from < bytes.length; ) {
        if (length === chunkBytes) {
          sealChunk(false);
          // Leaves room for the last chunk.
          if (filled > sealed.length - sealedChunkBytes) yield handOver();
        }
        const piece = bytes.subarray(from, from + chunkBytes - length);
        chunk.set(piece, length);
        length += piece.length;
        from += piece.length;
      }
    },
    end() {
      sealChunk(true);
      return handOver();
    },
  };
}

/** Encrypts a file's content. A block is valid until the next one is read. Rethrows what the content throws. */
export async function* sealFile(
  keys: DayKeys,
  day: string,
  content: AsyncIterable<Uint8Array>,
  place: string,
): AsyncGenerator<Buffer, void, undefined> {
  const sealer = createFileSealer(keys, day, place);
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
  place: string,
  { mayEndEarly = false } = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  let opener: FileOpener | undefined;
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
        opener = createFileOpener(keys, start, place);
        yield* opener.take(begun.subarray(startBytes));
      } else {
        isPlain = true;
        yield begun;
      }
    }
  }
  if (mayEndEarly && isSealed(begun)) return;
  if (opener) yield opener.end();
  else if (!isPlain && isSealed(begun)) throw damaged(place);
  else if (!isPlain && begun.length > 0) yield begun;
}

interface FileOpener {
  take(bytes: Uint8Array): Generator<Buffer, void, undefined>;
  end(): Buffer;
}

function createFileOpener(keys: DayKeys | undefined, start: Buffer, place: string): FileOpener {
  const heading = readHeading(start);
  if (!heading) throw damaged(place);
  const secret = deriveKey(findKey(keys, heading, place).secret, start, place);
  const nextNonce = createNonces();
  const chunk = Buffer.allocUnsafe(sealedChunkBytes);
  let length = 0;

  function openChunk(isLast: boolean): Buffer {
    const plain = decrypt(secret, nextNonce(isLast), chunk.subarray(0, length), noContext);
    if (!plain) throw damaged(place);
    length = 0;
    return plain;
  }

  return {
    *take(bytes) {
      for (let from = 0; from < bytes.length; ) {
        if (length === sealedChunkBytes) {
          yield openChunk(false);
        }
        const piece = bytes.subarray(from, from + sealedChunkBytes - length);
        chunk.set(piece, length);
        length += piece.length;
        from += piece.length;
      }
    },
    end: () => openChunk(true),
  };
}

/** How much content a file holds, judged by its size and first bytes, without decrypting it. */
export function measureContent(size: number, begun: Uint8Array): number {
  if (!isSealed(begun)) return size;
  const sealed = size - startBytes;
  return Math.max(0, sealed - Math.ceil(sealed / sealedChunkBytes) * tagBytes);
}

function deriveKey(secret: Buffer, start: Buffer, place: string): Buffer {
  const salt = start.subarray(headingBytes);
  const info = Buffer.concat([start.subarray(0, headingBytes), Buffer.from(place)]);
  return Buffer.from(hkdfSync('sha256', secret, salt, info, 32));
}

/** Each nonce is used once: it holds the chunk's number, and whether it is the last. */
function createNonces(): (isLast: boolean) => Buffer {
  let number = 0;
  return (isLast) => {
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(number, 5, 6);
    nonce[11] = Number(isLast);
    number += 1;
    return nonce;
  };
}

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isCalendarDay } from '../booking/business-day.js';
import { type DayKeys, KeyError } from './day-keys.js';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * What precedes everything encrypted: a mark, the day and the id of its key. The mark starts with a NUL, which neither a
 * booking's line nor a CSV file contains, so that unencrypted data is recognised.
 */
const mark = Buffer.from('\0hotel-review sealed 1\n', 'latin1');
const markBytes = mark.length;
const dayBytes = 10;
const idBytes = 8;
const headingBytes = markBytes + dayBytes + idBytes;
const startBytes = headingBytes + nonceBytes;

/** By how many bytes a value grows. */
export const sealBytes = startBytes + tagBytes;

/**
 * Encrypts a small value under its day's key, with AES-256-GCM: heading, nonce, ciphertext, tag.
 *
 * @param context where it is stored: it can't be read from anywhere else
 * @param part which part of what is stored there it is
 */
export function sealValue(keys: DayKeys, day: string, plain: Uint8Array, context: string, part = ''): Buffer {
  const { id, secret } = keys.use(day);
  const heading = Buffer.concat([mark, Buffer.from(day, 'latin1'), Buffer.from(id, 'hex')]);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, secret, nonce).setAAD(toContext(heading, context + part));
  return Buffer.concat([heading, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/**
 * Decrypts a value; one that is not encrypted is returned as it is.
 *
 * @throws KeyError
 */
export function openValue(keys: DayKeys | undefined, stored: Buffer, context: string, part = ''): Buffer {
  if (!isSealed(stored)) return stored;
  const heading = readHeading(stored);
  if (!heading || stored.length < sealBytes) throw damaged(context);
  const { secret } = findKey(keys, heading.day, heading.id, context);
  const end = stored.length - tagBytes;
  const decipher = createDecipheriv(algorithm, secret, stored.subarray(headingBytes, startBytes))
    .setAAD(toContext(stored.subarray(0, headingBytes), context + part))
    .setAuthTag(stored.subarray(end));
  const plain = decipher.update(stored.subarray(startBytes, end));
  try {
    decipher.final();
    return plain;
  } catch {
    throw damaged(context);
  }
}

/** @throws KeyError `unusable` without keys */
function findKey(keys: DayKeys | undefined, day: string, id: string, context: string) {
  if (keys) return keys.find(day, id);
  throw new KeyError(
    'unusable',
    `${context} is encrypted under key ${id} of ${day}, but the setting keys is missing: set it to the folder that holds the keys`,
  );
}

function damaged(context: string): KeyError {
  return new KeyError(
    'damaged',
    `${context} is encrypted, and its bytes are damaged or belong elsewhere: restore it from a backup`,
  );
}

function toContext(heading: Uint8Array, context: string): Buffer {
  return Buffer.concat([heading, Buffer.from(context)]);
}

/** Whether the bytes, or as many as there are, begin like encrypted data. */
export function isSealed(bytes: Uint8Array): boolean {
  return bytes.length >= markBytes && mark.equals(bytes.subarray(0, markBytes));
}

/** Tells an encrypted value from all others, also of the same content. */
function nonceOf(sealed: Buffer): string {
  return sealed.toString('hex', headingBytes, startBytes);
}

/** Undefined for bytes that are damaged or too short. */
function readHeading(stored: Buffer) {
  if (stored.length < headingBytes) return undefined;
  const day = stored.toString('latin1', markBytes, markBytes + dayBytes);
  return isCalendarDay(day)
    ? { day, id: stored.toString('hex', markBytes + dayBytes, headingBytes) }
    : undefined;
}

/**
 * An encrypted file: chunks of 256 KiB, each encrypted as a value; only the last one may be shorter, and there always is one. A
 * chunk's context holds its number, whether it is the last, and the nonce of the first one, so that chunks can't be moved, not even
 * from another version of the file, and a cut-off end is noticed.
 */
const chunkBytes = 256 * 1024;
const sealedChunkBytes = chunkBytes + sealBytes;

/** @param context where it is stored: it can't be read from anywhere else */
export function createFileSealer(keys: DayKeys, day: string, context: string) {
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
 * Converts content that arrives in pieces of any size. A chunk is only converted when more arrives, because only then is it certain not
 * to be the last. What it returns is only valid until the next call or iteration.
 *
 * @param convert is told the chunk's number, and whether it is the last, as a text
 */
function convertChunks(size: number, convert: (chunk: Buffer, part: string) => Buffer) {
  const chunk = Buffer.allocUnsafe(size);
  let length = 0;
  let number = 0;
  return {
    /** Takes the next bytes, which stay the caller's, and returns what became of the chunks that are complete, often nothing. */
    *take(bytes: Uint8Array): Generator<Buffer, void, undefined> {
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
    /** Returns the rest. */
    end: () => convert(chunk.subarray(0, length), ` last chunk ${number} `),
  };
}

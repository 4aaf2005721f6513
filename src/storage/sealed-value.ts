import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isCalendarDay } from '../booking/business-day.js';
import { type DayKey, type DayKeys, KeyError } from './day-keys.js';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * What precedes everything encrypted: a mark, the day and the id of its key. The mark starts with a NUL, which neither a
 * booking's line nor a CSV file contains, so that unencrypted data is recognised.
 */
const mark = Buffer.from('\0hotel-review sealed 1\n', 'latin1');
export const markBytes = mark.length;
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
  const { secret } = findKey(keys, heading, context);
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
function findKey(keys: DayKeys | undefined, { day, id }: Heading, context: string): DayKey {
  if (keys) return keys.find(day, id);
  throw new KeyError(
    'unusable',
    `${context} is encrypted under key ${id} of ${day}, but the setting keys is missing: set it to the folder that holds the keys`,
  );
}

export function damaged(context: string): KeyError {
  return new KeyError(
    'damaged',
    `${context} is encrypted, and its bytes are damaged or belong elsewhere: restore it from a backup`,
  );
}

function toContext(heading: Uint8Array, context: string): Buffer {
  return Buffer.concat([heading, Buffer.from(context)]);
}

type Heading = Pick<DayKey, 'day' | 'id'>;

/** Whether the bytes, or as many as there are, begin like encrypted data. */
export function isSealed(bytes: Uint8Array): boolean {
  return bytes.length >= markBytes && mark.equals(bytes.subarray(0, markBytes));
}

/** Tells an encrypted value from all others, also of the same content. */
export function nonceOf(sealed: Buffer): string {
  return sealed.toString('hex', headingBytes, startBytes);
}

/** Undefined for bytes that are damaged or too short. */
function readHeading(stored: Buffer): Heading | undefined {
  if (stored.length < headingBytes) return undefined;
  const day = stored.toString('latin1', markBytes, markBytes + dayBytes);
  return isCalendarDay(day)
    ? { day, id: stored.toString('hex', markBytes + dayBytes, headingBytes) }
    : undefined;
}

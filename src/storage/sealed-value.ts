import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isCalendarDay } from '../booking/business-day.js';
import { type DayKey, type DayKeys, KeyError } from './day-keys.js';

const algorithm = 'aes-256-gcm';
export const nonceBytes = 12;
export const tagBytes = 16;

/**
 * What precedes everything encrypted: a mark, the day and the id of its key. The mark starts with a NUL, which neither a
 * booking's line nor a CSV file contains, so that unencrypted data is recognised.
 */
const mark = Buffer.from('\0hotel-review sealed 1\n', 'latin1');
const dayBytes = 10;
const idBytes = 8;
export const headingBytes = mark.length + dayBytes + idBytes;

const startBytes = headingBytes + nonceBytes;

/**
 * Encrypts a small value under its day's key.
 *
 * @param context where it is stored: it can't be read from anywhere else
 */
export function sealValue(keys: DayKeys, day: string, plain: Uint8Array, context: string): Buffer {
  const key = keys.use(day);
  const heading = writeHeading(key);
  const nonce = randomBytes(nonceBytes);
  const sealed = Buffer.allocUnsafe(startBytes + plain.length + tagBytes);
  sealed.set(heading);
  sealed.set(nonce, headingBytes);
  encryptTo(sealed, startBytes, plain, { secret: key.secret, nonce, context: toContext(heading, context) });
  return sealed;
}

/**
 * Decrypts a value; one that is not encrypted is returned as it is.
 *
 * @throws KeyError
 */
export function openValue(keys: DayKeys | undefined, stored: Buffer, context: string): Buffer {
  if (!isSealed(stored)) return stored;
  const heading = readHeading(stored);
  if (!heading || stored.length < startBytes) throw damaged(context);
  const plain = decrypt(stored.subarray(startBytes), {
    secret: findKey(keys, heading, context).secret,
    nonce: stored.subarray(headingBytes, startBytes),
    context: toContext(stored.subarray(0, headingBytes), context),
  });
  if (!plain) throw damaged(context);
  return plain;
}

/** @throws KeyError `unusable` without keys */
export function findKey(keys: DayKeys | undefined, { day, id }: Heading, context: string): DayKey {
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

export function writeHeading({ day, id }: Heading): Buffer {
  return Buffer.concat([mark, Buffer.from(day, 'latin1'), Buffer.from(id, 'hex')]);
}

/** Whether the bytes, or as many as there are, begin like encrypted data. */
export function isSealed(bytes: Uint8Array): boolean {
  return bytes.length >= mark.length && mark.equals(bytes.subarray(0, mark.length));
}

/** Undefined for bytes that are damaged or too short. */
export function readHeading(bytes: Uint8Array): Heading | undefined {
  if (bytes.length < headingBytes || !isSealed(bytes)) return undefined;
  const rest = Buffer.from(bytes.subarray(mark.length, headingBytes));
  const day = rest.toString('latin1', 0, dayBytes);
  return isCalendarDay(day) ? { day, id: rest.toString('hex', dayBytes) } : undefined;
}

export interface Encryption {
  readonly secret: Buffer;
  /** Must never be reused under the same key. */
  readonly nonce: Buffer;
  readonly context: Uint8Array;
}

/** Encrypts with AES-256-GCM into the target at `at`: ciphertext, then tag. Returns where they end. */
export function encryptTo(
  target: Buffer,
  at: number,
  plain: Uint8Array,
  { secret, nonce, context }: Encryption,
): number {
  const cipher = createCipheriv(algorithm, secret, nonce);
  cipher.setAAD(context);
  target.set(cipher.update(plain), at);
  cipher.final();
  const end = at + plain.length;
  target.set(cipher.getAuthTag(), end);
  return end + tagBytes;
}

/** Undefined if the bytes, the context or the key are not the ones used to encrypt. */
export function decrypt(sealed: Uint8Array, { secret, nonce, context }: Encryption): Buffer | undefined {
  if (sealed.length < tagBytes) return undefined;
  const decipher = createDecipheriv(algorithm, secret, nonce);
  decipher.setAAD(context);
  const end = sealed.length - tagBytes;
  decipher.setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(0, end));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

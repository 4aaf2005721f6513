import { open, seal } from './cipher.js';
import type { DayKeys } from './day-keys.js';
import { headingBytes, isSealed, readHeading, writeHeading } from './heading.js';
import { KeyError } from './key-error.js';

/**
 * Encrypts a small value under its day's key.
 *
 * @param place where it is stored: it can't be read from any other place
 */
export function sealValue(keys: Pick<DayKeys, 'use'>, day: string, plain: Uint8Array, place: string): Buffer {
  const key = keys.use(day);
  const heading = writeHeading(key);
  return seal(key.secret, plain, toContext(heading, place), heading);
}

/**
 * Decrypts a value; one that is not encrypted is returned as it is.
 *
 * @throws KeyError
 */
export function openValue(keys: Pick<DayKeys, 'find'> | undefined, stored: Buffer, place: string): Buffer {
  if (!isSealed(stored)) return stored;
  const heading = readHeading(stored);
  if (!heading) throw damaged(place);
  const { secret } = findKey(keys, heading, place);
  const plain = open(
    secret,
    stored.subarray(headingBytes),
    toContext(stored.subarray(0, headingBytes), place),
  );
  if (!plain) throw damaged(place);
  return plain;
}

/** @throws KeyError `unusable` without keys */
export function findKey(
  keys: Pick<DayKeys, 'find'> | undefined,
  { day, id }: { readonly day: string; readonly id: string },
  place: string,
) {
  if (keys) return keys.find(day, id);
  throw new KeyError(
    'unusable',
    `${place} is encrypted under key ${id} of ${day}, but the setting keys is missing: set it to the folder that holds the keys`,
  );
}

export function damaged(place: string): KeyError {
  return new KeyError(
    'damaged',
    `${place} is encrypted, and its bytes are damaged or belong elsewhere: restore it from a backup`,
  );
}

function toContext(heading: Uint8Array, place: string): Buffer {
  return Buffer.concat([heading, Buffer.from(place)]);
}

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** What is hashed: equal texts of different kinds have different hashes. */
export type HashedKind = 'reference' | 'name' | 'key';

/** Creates the function that hashes texts under the setting `hashKey`, with HMAC-SHA-256, in hexadecimal. */
export function createKeyedHash(hashKey: string): (kind: HashedKind, text: string) => string {
  // A text would be converted to a key object for every hash, and a day has many bookings.
  const key: KeyObject = createSecretKey(hashKey, 'utf8');
  return (kind, text) => createHmac('sha256', key).update(`${kind}\n${text}`).digest('hex');
}

/** Tells keys apart without revealing anything about them. */
export function keyIdOf(hashKey: string): string {
  return createKeyedHash(hashKey)('key', '').slice(0, 16);
}

/** A name as it is hashed and compared: differences in case, composed characters and surrounding spaces are removed. */
export function foldName(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

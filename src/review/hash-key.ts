import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** What is hashed: equal texts of different kinds have different hashes. */
export type HashedKind = 'reference' | 'name' | 'pseudonym' | 'key';

/** Creates the function that hashes texts under the setting `hashKey`, with HMAC-SHA-256, in hexadecimal. */
export function createKeyedHash(hashKey: string): (kind: HashedKind, text: string) => string {
  // A text as the key would be turned into one for each hash, and a pseudonym takes one per booking.
  const key: KeyObject = createSecretKey(hashKey, 'utf8');
  return (kind, text) => createHmac('sha256', key).update(`${kind}\n${text}`).digest('hex');
}

/** Tells keys apart without giving anything of them away. */
export function keyIdOf(hashKey: string): string {
  return createKeyedHash(hashKey)('key', '').slice(0, 16);
}

/** A name as it is hashed and compared: without differences in case, in composed characters, and in spaces at the ends. */
export function foldName(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

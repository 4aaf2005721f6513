import { createHmac, createSecretKey } from 'node:crypto';

/**
 * Creates the function that hashes texts under the setting `hashKey`, with HMAC-SHA-256, in hexadecimal. A reference and the
 * mark of a key have different hashes, even if their texts are equal.
 */
export function createKeyedHash(hashKey: string) {
  // A text would be converted to a key object for every hash, and a day has many bookings.
  const key = createSecretKey(hashKey, 'utf8');
  return (kind: 'reference' | 'key', text: string) =>
    createHmac('sha256', key).update(`${kind}\n${text}`).digest('hex');
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import { isGuessable } from '../../base/guessable.js';

/** The content that a sender signs, as defined by Standard Webhooks. */
interface SignedMessage {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The header `webhook-timestamp`: whole seconds since 1970, as written. */
  readonly timestamp: string;
  /** The raw bytes of the body. */
  readonly body: Uint8Array;
}

/** The prefix of a key in base64. */
const secretPrefix = 'whsec_';
const base64 = /^(?:[\w+/-]{4})*(?:[\w+/-]{2}(?:==)?|[\w+/-]{3}=?)?$/;
/** The shortest key that Standard Webhooks allows, in bytes. */
export const shortestKey = 24;

/**
 * The keys that a secret may stand for. After `whsec_` comes the key in base64. A secret without that prefix stands for its UTF-8
 * bytes; one that is itself base64 of at least 24 bytes stands for those as well, because libraries of senders differ in how
 * they read it. The first key is the one to sign with.
 *
 * @throws RangeError for a secret that is too short or too uniform to withstand guessing, or not base64 after `whsec_`; the
 *   message doesn't quote it
 */
export function readKeys(secret: string): [Buffer, ...Buffer[]] {
  if (secret.startsWith(secretPrefix)) {
    const encoded = secret.slice(secretPrefix.length);
    const key = Buffer.from(encoded, 'base64');
    if (!base64.test(encoded) || key.length === 0) {
      throw new RangeError('a secret that begins with whsec_ must continue in base64: copy all of it');
    }
    checkStrength(key);
    return [key];
  }
  const own = Buffer.from(secret);
  checkStrength(own);
  const decoded = base64.test(secret) ? Buffer.from(secret, 'base64') : Buffer.alloc(0);
  if (decoded.length < shortestKey) return [own];
  checkStrength(decoded);
  return [own, decoded];
}

function checkStrength(key: Buffer): void {
  if (key.length < shortestKey)
    throw new RangeError(`the secret is shorter than ${shortestKey} bytes: anybody could guess it`);
  if (isGuessable(key))
    throw new RangeError('the secret repeats a few characters or a pattern: anybody could guess it');
}

/** The value of the header `webhook-signature`: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. */
export function sign({ id, timestamp, body }: SignedMessage, key: Uint8Array): string {
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return `v1,${digest}`;
}

/** Whether one of the signatures, separated by spaces, matches one of the keys. */
export function isSigned(message: SignedMessage, signatures: string, keys: readonly Uint8Array[]): boolean {
  const expected = keys.map((key) => Buffer.from(sign(message, key)));
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature);
    return expected.some((own) => own.length === given.length && timingSafeEqual(own, given));
  });
}

/** A new secret, in the form of Standard Webhooks. */
export function createHookSecret(randomBytes: (size: number) => Buffer): string {
  return `${secretPrefix}${randomBytes(32).toString('base64')}`;
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import { isGuessable } from '../text/guessable.js';
import { quoteForShell } from '../text/shell.js';

/** The content that a sender signs, as defined by Standard Webhooks. */
interface SignedMessage {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The header `webhook-timestamp`: whole seconds since 1970, as written. */
  readonly timestamp: string;
  /** The raw bytes of the body. */
  readonly body: Uint8Array;
}

const prefix = 'whsec_';
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
  if (secret.startsWith(prefix)) {
    const encoded = secret.slice(prefix.length);
    const key = Buffer.from(encoded, 'base64');
    if (!base64.test(encoded) || key.length === 0) {
      throw new RangeError("a hook's secret that begins with whsec_ must continue in base64: copy all of it");
    }
    checkStrength(key);
    return [key];
  }
  const own = Buffer.from(secret);
  checkStrength(own);
  const decoded = base64.test(secret) ? Buffer.from(secret, 'base64') : Buffer.alloc(0);
  return decoded.length >= shortestKey ? [own, decoded] : [own];
}

function checkStrength(key: Buffer): void {
  if (key.length < shortestKey)
    throw new RangeError(`a hook's secret is shorter than ${shortestKey} bytes: anybody could guess it`);
  if (isGuessable(key))
    throw new RangeError("a hook's secret repeats a few characters: anybody could guess it");
}

/** Whether a bearer token is long and varied enough to withstand guessing. */
export function isStrongToken(token: string): boolean {
  return Buffer.byteLength(token) >= shortestKey && !isGuessable(token);
}

/** A new secret for the hook, in the form of Standard Webhooks. */
export function createHookSecret(randomBytes: (size: number) => Buffer): string {
  return `${prefix}${randomBytes(32).toString('base64')}`;
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

interface HookTrial {
  /** The full URL of the hook. */
  readonly url: string;
  /** YYYY-MM-DD; without it the hook takes yesterday. */
  readonly day?: string;
  /** How many records the day's source should hold. */
  readonly expected?: number;
  /** The request's id: the hook responds to the same id with the same run. */
  readonly id: string;
  /** The secret to sign with; without it the request carries the token from a shell variable. */
  readonly secret?: string;
  /** Epoch milliseconds; the signature is valid for a few minutes from then. */
  readonly at: number;
}

/**
 * A `curl` command that calls the end-of-day hook, to be pasted into a shell. It contains a signature for this one request, but
 * neither secret nor token.
 *
 * @throws RangeError for a secret that can't be used
 */
export function renderSignedCurl({ url, day, expected, id, secret, at }: HookTrial): string {
  const body = JSON.stringify({ day, expected });
  const headers = [
    ['content-type', 'application/json'],
    ['webhook-id', id],
  ];
  if (secret !== undefined) {
    const timestamp = String(Math.floor(at / 1000));
    const [key] = readKeys(secret);
    headers.push(['webhook-timestamp', timestamp]);
    headers.push(['webhook-signature', sign({ id, timestamp, body: Buffer.from(body) }, key)]);
  }
  const words = [
    `curl --silent --show-error --include --request POST ${quoteForShell(url)}`,
    ...headers.map(([name, value]) => `--header ${quoteForShell(`${name}: ${value}`)}`),
    ...(secret === undefined ? ['--header "authorization: Bearer $HOTEL_REVIEW_HOOK_TOKEN"'] : []),
    `--data-raw ${quoteForShell(body)}`,
  ];
  return words.join(' \\\n  ');
}

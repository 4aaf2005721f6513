import { readKeys, secretPrefix, sign } from '../http/webhook-signature.js';
import { quoteForShell } from '../text/shell.js';

/** A new secret for the hook, in the form of Standard Webhooks. */
export function createHookSecret(randomBytes: (size: number) => Buffer): string {
  return `${secretPrefix}${randomBytes(32).toString('base64')}`;
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
  /** The secret to sign with; without it the request carries it from a shell variable, as a token. */
  readonly secret?: string;
  /** Epoch milliseconds; the signature is valid for a few minutes from then. */
  readonly at: number;
}

/**
 * A `curl` command that calls the end-of-day hook, to be pasted into a shell. It contains a signature for this one request, but
 * never the secret.
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
    ...(secret === undefined ? ['--header "authorization: Bearer $HOTEL_REVIEW_HOOK_SECRET"'] : []),
    `--data-raw ${quoteForShell(body)}`,
  ];
  return words.join(' \\\n  ');
}

import { quoteForShell } from '../text/shell-quote.js';
import { readKeys, sign } from './signature.js';

export interface HookTrial {
  /** Of the hook, whole. */
  readonly url: string;
  /** YYYY-MM-DD; without one the hook takes yesterday. */
  readonly day?: string;
  /** The request's id: the hook answers the same id with the same run. */
  readonly id: string;
  /** To sign with; without one the request carries the token that the shell has as a variable. */
  readonly secret?: string;
  /** Epoch milliseconds: a signature is good for some minutes from then. */
  readonly at: number;
}

/**
 * A `curl` command for trying the end-of-day hook, to be pasted into a shell. It holds a signature, which is good for
 * this one request, but neither secret nor token.
 *
 * @throws RangeError for a secret that can't be used
 */
export function renderSignedCurl({ url, day, id, secret, at }: HookTrial): string {
  const body = day === undefined ? '{}' : JSON.stringify({ day });
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

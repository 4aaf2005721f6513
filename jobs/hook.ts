import { randomUUID } from 'node:crypto';
import { quoteForShell } from '../src/base/shell.js';
import { UsageError } from '../src/base/usage-error.js';
import type { Config } from '../src/config/load.js';
import { hookPath } from '../src/desk/server/hook.js';
import { readKeys, sign } from '../src/transports/http/webhook-signature.js';
import { clock } from './clock.js';
import { choice, command, option, optionalDay, wholeNumber } from './command.js';

/** Prints a `curl` command that calls the end-of-day hook, signed and ready to be pasted. */
export default command({
  day: optionalDay(),
  options: {
    expected: option(
      '--expected <count>',
      'how many records the day has; with any other number the run fails',
      wholeNumber(0, 1_000_000_000),
    ),
    url: option('--url <url>', 'the address of serve (default: as configured)'),
    with: choice('--with <how>', 'how to authenticate (default: signature)', ['signature', 'token']),
  },
  examples: `
Examples:
  hotel-review hook               print the command for yesterday
  hotel-review hook --day 2026-11-20 --url https://review.example.com | sh
                                  call it right away`,

  async run(app, { day, expected, url, with: how }) {
    const { hook, server } = app.config;
    const { secret } = hook;
    if (secret === undefined) throw new UsageError('the hook has no secret: set hook.secret');
    const address = url ?? addressOf(server);
    const curl = renderSignedCurl({
      url: `${address.replace(/\/+$/, '')}${hookPath}`,
      id: `msg_${randomUUID()}`,
      at: clock(),
      ...(day !== undefined && { day }),
      ...(expected !== undefined && { expected }),
      ...(how !== 'token' && { secret }),
    });
    return app.answer(curl, { curl });
  },
});

/** The address to call from this machine: a wildcard address can't be called. */
function addressOf({ host, port }: Config['server']): string {
  const reachable = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
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
  const timestamp = String(Math.floor(at / 1000));
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    ...(secret !== undefined && {
      'webhook-timestamp': timestamp,
      'webhook-signature': sign({ id, timestamp, body: Buffer.from(body) }, readKeys(secret)[0]),
    }),
  };
  const words = [
    `curl --silent --show-error --include --request POST ${quoteForShell(url)}`,
    ...Object.entries(headers).map(([name, value]) => `--header ${quoteForShell(`${name}: ${value}`)}`),
    ...(secret === undefined ? ['--header "authorization: Bearer $HOTEL_REVIEW_HOOK_SECRET"'] : []),
    `--data-raw ${quoteForShell(body)}`,
  ];
  return words.join(' \\\n  ');
}

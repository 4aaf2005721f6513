import { randomUUID } from 'node:crypto';
import type { Config } from '../src/config/load.js';
import { renderSignedCurl } from '../src/server/caller.js';
import { hookPath } from '../src/server/hook.js';
import { UsageError } from '../src/text/usage-error.js';
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

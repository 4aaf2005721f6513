import { randomUUID } from 'node:crypto';
import type { HookOptions } from '../src/cli/commands/service.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { hookPath } from '../src/server/hook.js';
import { renderSignedCurl } from '../src/server/hook-credentials.js';
import { UsageError } from '../src/text/usage-error.js';
import { clock } from './clock.js';
import type { Terminal } from './terminal.js';

/** Prints a `curl` command that calls the end-of-day hook, signed and ready to be pasted. */
export async function signHook(
  { hook, server }: Config,
  { day, expected, url = addressOf(server), with: how }: HookOptions,
  terminal: Terminal,
): Promise<number> {
  const { secret } = hook;
  if (secret === undefined) throw new UsageError('the hook has no secret: set hook.secret');
  const curl = renderSignedCurl({
    url: `${url.replace(/\/+$/, '')}${hookPath}`,
    id: `msg_${randomUUID()}`,
    at: clock(),
    ...(day !== undefined && { day }),
    ...(expected !== undefined && { expected }),
    ...(how !== 'token' && { secret }),
  });
  terminal.answer(curl, { curl });
  return exitCode.done;
}

/** The address to call from this machine: a wildcard address can't be called. */
function addressOf({ host, port }: Config['server']): string {
  const reachable = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

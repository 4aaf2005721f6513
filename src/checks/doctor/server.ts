import { isLoopbackAddress } from '../../base/loopback.js';
import { describeNeededHost } from '../../base/networks.js';
import type { Config } from '../../config/load.js';
import type { HttpResult } from '../../transports/http/transport.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning } = findingsOf('configuration');

interface ServedSettings {
  readonly server: Pick<Config['server'], 'host' | 'users'>;
  readonly hook: Config['hook'];
}

/** Checks whether the traffic of `serve` can be read on the network. Only a warning: a proxy may be in front. */
export function checkServer({ server: { host, users }, hook }: ServedSettings): readonly Finding[] {
  if (isLoopbackAddress(host)) return [];
  return [
    warning(
      `server.host is ${host}, without TLS: ${describeExposure(hook, users)}`,
      'Put a proxy with TLS in front of it, and set server.host to 127.0.0.1.',
    ),
  ];
}

function describeExposure({ secret }: Config['hook'], users: string | undefined): string {
  if (secret !== undefined)
    return 'a caller that sends hook.secret as a bearer token sends it in plain text, and anybody who reads it can start runs';
  const pages = 'the pages cross the network in plain text';
  return users === undefined ? pages : `${pages}, and nobody can sign in from another machine`;
}

/**
 * Checks whether the proxy in front of `serve` passes on what signing in needs. Only a warning: perhaps `serve` is not running yet,
 * or this machine can't reach what others can.
 *
 * @param ask gets a path at that address, as a program that accepts JSON
 */
export async function checkPublicUrl(
  publicUrl: string | undefined,
  ask: (origin: string, path: string) => Promise<HttpResult>,
): Promise<readonly Finding[]> {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  // Over plain http it is on this machine, without a proxy.
  if (url?.protocol !== 'https:') return [];
  const { answer, failure } = await ask(url.origin, '/sign-in');
  const body = String(answer?.body ?? '');
  if (body.includes('"class":"wrong-host"'))
    return [
      warning(`nobody can sign in at ${url.origin}: another host arrives here`, describeNeededHost(url)),
    ];
  const isForm = answer?.status === 200 && body.includes('action="/sign-in"');
  if (isForm || (answer?.status === 403 && body.includes('"class":"forbidden"')))
    return [ok(`${url.origin} leads to serve, and its proxy passes on the header Host`)];
  const what = failure?.code ?? `http-${answer?.status}`;
  return [
    warning(
      `the page for signing in at ${url.origin} could not be tried (${what})`,
      `${describeNeededHost(url)} To try it, start serve and the proxy first.`,
    ),
  ];
}

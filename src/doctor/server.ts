import type { Config } from '../config/load.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import { isLoopbackAddress } from '../http/transport.js';

const { warning } = findingsOf('configuration');

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

import type { Config } from '../config/load.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import { isLoopbackAddress } from '../http/url.js';
import { readTlsIdentity } from '../server/tls.js';
import { describeError } from '../text/safe-error.js';

const { ok, warning, wrong } = findingsOf('configuration');
const dayMs = 86_400_000;
/** Certificates are usually renewed earlier than that. */
const renewalDays = 14;

interface ServedSettings {
  readonly server: Pick<Config['server'], 'host' | 'tls' | 'users'>;
  readonly hook: Config['hook'];
}

/** Checks whether the traffic of `serve` can be read on the network. Only a warning: a proxy may be in front. */
export async function checkServer(
  { server: { host, tls, users }, hook }: ServedSettings,
  now: number,
): Promise<readonly Finding[]> {
  if (tls !== undefined) return [await checkCertificate(tls, now)];
  if (isLoopbackAddress(host)) return [];
  return [
    warning(
      `server.host is ${host}, without TLS: ${describeExposure(hook, users)}`,
      'Set server.tls.certificateFile and server.tls.keyFile, or put a proxy with TLS in front of it and set server.host to 127.0.0.1.',
    ),
  ];
}

function describeExposure({ token }: Config['hook'], users: string | undefined): string {
  if (token !== undefined)
    return "the hook's bearer token crosses the network in plain text, and anybody who reads it can start runs";
  const pages = 'the pages cross the network in plain text';
  return users === undefined ? pages : `${pages}, and nobody can sign in from another machine`;
}

async function checkCertificate(tls: NonNullable<Config['server']['tls']>, now: number): Promise<Finding> {
  try {
    const { validUntil } = await readTlsIdentity(tls);
    const until = new Date(validUntil).toISOString().slice(0, 10);
    const message = `the certificate of serve is valid until ${until}`;
    return validUntil - now > renewalDays * dayMs
      ? ok(message)
      : warning(message, 'Renew it; serve uses the new files within a minute.');
  } catch (error) {
    return wrong(describeError(error), 'serve does not start without them.');
  }
}

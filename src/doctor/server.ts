import type { Config } from '../config/load.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import { isLoopback } from '../http/url.js';
import { readTlsIdentity } from '../server/tls.js';
import { describeError } from '../text/safe-error.js';

const { ok, warning, wrong } = findingsOf('configuration');
const dayMs = 86_400_000;
/** Certificates are usually renewed earlier. */
const renewalDays = 14;

/** Whether what `serve` receives and shows can be read on the network. Only a warning: a proxy may be in front of it. */
export async function checkServer(
  { server: { host, tls }, hook }: Pick<Config, 'server' | 'hook'>,
  now: number,
): Promise<readonly Finding[]> {
  if (tls !== undefined) return [await checkCertificate(tls, now)];
  if (isLoopback(host) || host === '::1') return [];
  const exposed =
    hook.token === undefined
      ? 'the status page crosses the network in plain text'
      : "the hook's bearer token crosses the network in plain text, and whoever reads it can start runs";
  return [
    warning(
      `server.host is ${host}, without TLS: ${exposed}`,
      'Set server.tls.certificateFile and server.tls.keyFile, or put a proxy with TLS in front of it and set server.host to 127.0.0.1.',
    ),
  ];
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

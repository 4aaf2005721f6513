import type { Config } from '../config/load.js';
import { type Finding, findingsOf, type Part } from '../examination/finding.js';
import { isLoopback } from '../http/url.js';

interface DatabaseConnection {
  readonly part: Part;
  /** The setting that holds the address. */
  readonly setting: string;
  /** With user and password, which are never shown. */
  readonly url: string;
  /** The file of the authority's certificate; with it TLS is demanded. */
  readonly ca?: string | undefined;
}

/** Warns if guests' names cross the network unencrypted. Only a warning: private networks exist. */
export function warnAboutPlainConnection({ part, setting, url, ca }: DatabaseConnection): readonly Finding[] {
  const host = readRemoteHost(url);
  if (host === undefined || ca !== undefined || asksForTls(new URL(url))) return [];
  return [
    findingsOf(part).warning(
      `the connection to ${host} is not encrypted: guests' names cross the network in plain text`,
      `Add ?sslmode=verify-full to the address in ${setting}, if the server supports TLS.`,
    ),
  ];
}

/** Undefined for a file, a socket or this machine. */
function readRemoteHost(url: string): string | undefined {
  if (!/^(postgres|postgresql|mysql|mariadb):\/\//i.test(url) || !URL.canParse(url)) return undefined;
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? hostname;
  const isSocket = searchParams.has('socket') || /^(\/|%2f)/i.test(host);
  return host === '' || isSocket || isLoopback(host) ? undefined : host;
}

function asksForTls({ searchParams }: URL): boolean {
  const mode = searchParams.get('sslmode') ?? (searchParams.has('ssl') ? 'require' : 'disable');
  return mode !== 'disable';
}

/** Workers on several machines share a queue, but can't see what is only on this machine. */
export function checkSharedPlaces({ queue, ledger, archive }: Config): readonly Finding[] {
  if (queue.kind === 'in-process') return [];
  const findings: Finding[] = [];
  if (ledger.kind === 'sqlite') {
    findings.push(
      findingsOf('ledger').warning(
        'it is a file, but the queue is on Redis: workers on other machines cannot reach it',
        'Keep all workers on this machine, or set ledger to postgres://…',
      ),
    );
  }
  if (archive.kind === 'directory') {
    findings.push(
      findingsOf('archive').warning(
        `${archive.path} is a folder on one machine, but any worker may archive: the evidence of file runs would be spread across machines`,
        'Put it on a file system that all workers share, or keep all workers on one machine.',
      ),
    );
  }
  return findings;
}

import type { Config } from '../config/load.js';
import { type Finding, findingsOf, type Part } from '../examination/finding.js';
import { isLoopback } from '../http/url.js';

export interface DatabaseWire {
  readonly part: Part;
  /** The setting that holds the address. */
  readonly setting: string;
  /** With user and password, of which nothing is told. */
  readonly url: string;
  /** The file of the authority's certificate; with it TLS is demanded. */
  readonly ca?: string | undefined;
}

/** Warns where guests' names cross the network as they are. It stays a warning: there are networks of one's own. */
export function warnOfPlainWire({ part, setting, url, ca }: DatabaseWire): readonly Finding[] {
  const host = readRemoteHost(url);
  if (host === undefined || ca !== undefined || asksForTls(new URL(url))) return [];
  return [
    findingsOf(part).warning(
      `${host} is reached without encryption: guests' names cross the network as they are`,
      `Add ?sslmode=verify-full to the address in ${setting}, if the server speaks TLS.`,
    ),
  ];
}

/** Undefined for a file, a socket and this machine. */
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

/** Workers on several machines share a queue; what lies on this machine alone, the others can't see. */
export function checkSharedPlaces({ queue, ledger, archive }: Config): readonly Finding[] {
  if (queue.kind === 'in-process') return [];
  const findings: Finding[] = [];
  if (ledger.kind === 'sqlite') {
    findings.push(
      findingsOf('ledger').warning(
        'it is a file, and the queue is on Redis: workers on other machines do not reach it',
        'Keep all workers on this machine, or set ledger to postgres://…',
      ),
    );
  }
  if (archive.kind === 'directory') {
    findings.push(
      findingsOf('archive').warning(
        `${archive.path} is a folder of one machine, and any worker may archive: the evidence of file runs would be spread over them`,
        'Put it on a file system that all workers share, or keep them on one machine.',
      ),
    );
  }
  return findings;
}

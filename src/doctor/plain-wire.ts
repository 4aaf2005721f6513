import { isLoopback } from '../http/url.js';
import { type Finding, findingsOf, type Part } from './finding.js';

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

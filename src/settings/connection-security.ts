import { isLoopback } from '../http/url.js';

/** How a connection to a database or to Redis is protected. `local`: it does not leave this machine. */
export type ConnectionSecurity = 'local' | 'verified' | 'unverified' | 'plain';

/** An address as it is configured. */
export interface ConfiguredAddress {
  readonly url: string;
  /** Allows a connection without TLS, or with a certificate that is not verified. */
  readonly plaintext?: 'allowed' | undefined;
  /** The file of the authority's certificate; with it TLS is required. */
  readonly ca?: string | undefined;
}

/**
 * Says how the drivers protect a connection to `postgres:`, `mysql:`, `mariadb:` or `redis:`. It reads parameters as each
 * driver does, since a difference would let a plain connection pass. What has no host is a file and counts as `local`; a
 * protocol that is not listed counts as `plain`.
 */
export function readConnectionSecurity({ url, ca }: ConfiguredAddress): ConnectionSecurity {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(url) || !URL.canParse(url)) return 'local';
  const address = new URL(url);
  const authority = ca !== undefined;
  switch (address.protocol) {
    case 'postgres:':
    case 'postgresql:':
      return readPostgres(address, authority);
    case 'mysql:':
    case 'mariadb:':
      return readMysql(address, authority);
    case 'redis:':
    case 'rediss:':
      return readRedis(url, authority);
    case 'sqlite:':
      return 'local';
    default:
      return 'plain';
  }
}

/** The host that a database's address leads to; undefined for a file, a socket or this machine. */
export function findRemoteHost(url: string): string | undefined {
  if (readConnectionSecurity({ url }) === 'local') return undefined;
  const address = new URL(url);
  return lastOf(address, 'host') || address.hostname;
}

/**
 * What is wrong with an address that leads to another machine without verified TLS, and what to write instead; undefined
 * if nothing is. Quotes nothing of the address.
 *
 * @param allowed how the configuration allows it, such as `ledger: { url: …, plaintext: allowed }`
 */
export function explainUnprotected(address: ConfiguredAddress, allowed: string): string | undefined {
  const security = readConnectionSecurity(address);
  if (security === 'local' || security === 'verified' || address.plaintext === 'allowed') return undefined;
  const fix = /^rediss?:/i.test(address.url)
    ? 'begin the address with rediss://'
    : 'put sslmode=verify-full into the address, as in …?sslmode=verify-full';
  const fault =
    security === 'plain'
      ? 'must use TLS, because it leads to another machine and would send password and data in plain text'
      : 'must verify the certificate, because it leads to another machine and would send password and data to anyone';
  return `${fault}: ${fix}; to connect like this on a network that you trust, write ${allowed}`;
}

/** As in pg-connection-string: of a parameter that occurs twice, the last one counts. */
function readPostgres(address: URL, hasAuthority: boolean): ConnectionSecurity {
  const parameter = (name: string) => lastOf(address, name);
  if (isHere(parameter('host') || address.hostname)) return 'local';
  const mode = parameter('sslmode');
  const usesMode = [mode, parameter('sslcert'), parameter('sslkey'), parameter('sslrootcert')].some(Boolean);
  if (usesMode || hasAuthority) return readMode(mode, parameter('uselibpqcompat') === 'true');
  const ssl = parameter('ssl');
  if (ssl === undefined) return parameter('sslnegotiation') === 'direct' ? 'verified' : 'plain';
  if (ssl === 'no-verify') return 'unverified';
  return ssl === 'true' || ssl === '1' ? 'verified' : 'plain';
}

/** @param asLibpq only libpq's strictest mode verifies certificate and name */
function readMode(mode: string | undefined, asLibpq: boolean): ConnectionSecurity {
  if (mode === 'disable') return 'plain';
  if (asLibpq) return mode === undefined || mode === 'verify-full' ? 'verified' : 'unverified';
  return mode === 'no-verify' ? 'unverified' : 'verified';
}

function readMysql({ hostname, searchParams }: URL, hasAuthority: boolean): ConnectionSecurity {
  if (searchParams.has('socket') || isHere(hostname)) return 'local';
  const mode = searchParams.get('sslmode') ?? undefined;
  return mode === undefined && !hasAuthority ? 'plain' : readMode(mode, false);
}

/** The driver knows `rediss://` in small letters only, and takes an empty parameter `tls` for none. */
function readRedis(url: string, hasAuthority: boolean): ConnectionSecurity {
  const address = new URL(url);
  if (lastOf(address, 'path') || isHere(address.hostname || lastOf(address, 'host') || '')) return 'local';
  const usesTls = hasAuthority || url.startsWith('rediss://');
  return usesTls && !address.searchParams.has('tls') ? 'verified' : 'plain';
}

function lastOf({ searchParams }: URL, name: string): string | undefined {
  return searchParams.getAll(name).at(-1);
}

/** A socket, or this machine. */
function isHere(host: string): boolean {
  return host === '' || host === '::1' || /^(?:\/|%2f)/i.test(host) || isLoopback(host.toLowerCase());
}

/**
 * An address for PostgreSQL's driver that leaves nothing to its environment: it would take a missing host from PGHOST.
 *
 * @param ca the absolute path of the authority's certificate
 */
export function completePostgresUrl(url: string, ca: string | undefined): string {
  const address = new URL(url);
  const hasHost = address.hostname !== '' || Boolean(lastOf(address, 'host'));
  if (hasHost && ca === undefined) return url;
  if (!hasHost) address.searchParams.set('host', 'localhost');
  if (ca !== undefined) {
    address.searchParams.set('sslrootcert', ca);
    if (!address.searchParams.has('sslmode')) address.searchParams.set('sslmode', 'verify-full');
  }
  return address.href;
}

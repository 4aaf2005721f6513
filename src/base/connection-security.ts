import { resolve } from 'node:path';
import { isLoopback } from './addresses.js';

/** How a connection to a database or to Redis is protected. `local`: it does not leave this machine. */
export type ConnectionSecurity = 'local' | 'verified' | 'unverified' | 'plain';

/**
 * Says how the drivers protect a connection to `postgres:`, `mysql:`, `mariadb:` or `redis:`. It reads parameters as each
 * driver does, since a difference would let a plain connection pass. What has no host is a file and counts as `local`; a
 * protocol that is not listed counts as `plain`.
 */
export function readConnectionSecurity(url: string): ConnectionSecurity {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(url) || !URL.canParse(url)) return 'local';
  const address = new URL(url);
  switch (address.protocol) {
    case 'postgres:':
    case 'postgresql:':
      return readPostgres(address);
    case 'mysql:':
    case 'mariadb:':
      return readMysql(address);
    case 'redis:':
    case 'rediss:':
      return readRedis(url);
    case 'sqlite:':
      return 'local';
    default:
      return 'plain';
  }
}

/** The host that a database's address leads to; undefined for a file, a socket or this machine. */
export function findRemoteHost(url: string): string | undefined {
  if (readConnectionSecurity(url) === 'local') return undefined;
  const address = new URL(url);
  return lastOf(address, 'host') || address.hostname;
}

/**
 * What is wrong with an address that leads to another machine without verified TLS, and what to write instead; undefined
 * if nothing is, or if the address itself says `sslmode=disable` or `sslmode=no-verify`. Quotes nothing of the address.
 */
export function explainUnprotected(url: string): string | undefined {
  const security = readConnectionSecurity(url);
  if (security === 'local' || security === 'verified' || isPermitted(url)) return undefined;
  const isRedis = /^rediss?:/i.test(url);
  const fix = isRedis
    ? 'begin the address with rediss://'
    : 'put sslmode=verify-full into the address, as in …?sslmode=verify-full';
  const fault =
    security === 'plain'
      ? 'must use TLS, because it leads to another machine and would send password and data in plain text'
      : 'must verify the certificate, because it leads to another machine and would send password and data to anyone';
  const permission = isRedis ? 'queue: { url: …, plaintext: allowed }' : 'sslmode=disable into the address';
  return `${fault}: ${fix}; to connect like this on a network that you trust, write ${permission}`;
}

/** Whether an address of a database asks for what is not safe, in so many words. */
function isPermitted(url: string): boolean {
  const address = new URL(url);
  const mode = /^(?:mysql|mariadb):$/.test(address.protocol)
    ? readMysqlMode(address)
    : lastOf(address, 'sslmode');
  return mode === 'disable' || mode === 'no-verify';
}

/** As in pg-connection-string: of a parameter that occurs twice, the last one counts. */
function readPostgres(address: URL): ConnectionSecurity {
  const parameter = (name: string) => lastOf(address, name);
  if (isHere(parameter('host') || address.hostname)) return 'local';
  const mode = parameter('sslmode');
  const usesMode = [mode, parameter('sslcert'), parameter('sslkey'), parameter('sslrootcert')].some(Boolean);
  if (usesMode) return readMode(mode, parameter('uselibpqcompat') === 'true');
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

function readMysql(address: URL): ConnectionSecurity {
  if (address.searchParams.has('socket') || isHere(address.hostname)) return 'local';
  const mode = readMysqlMode(address);
  return mode === undefined ? 'plain' : readMode(mode, false);
}

/** `sslmode` with PostgreSQL's values, or `ssl-mode` with MySQL's own, as PostgreSQL's value. */
export function readMysqlMode({ searchParams }: URL): string | undefined {
  const mode = (searchParams.get('sslmode') ?? searchParams.get('ssl-mode') ?? undefined)?.toLowerCase();
  return mode === undefined ? undefined : (mysqlModes.get(mode) ?? mode);
}

const mysqlModes: ReadonlyMap<string, string> = new Map([
  ['disabled', 'disable'],
  ['preferred', 'prefer'],
  ['required', 'require'],
  ['verify_ca', 'verify-ca'],
  ['verify_identity', 'verify-full'],
]);

/** The driver knows `rediss://` in small letters only, and takes an empty parameter `tls` for none. */
function readRedis(url: string): ConnectionSecurity {
  const address = new URL(url);
  if (lastOf(address, 'path') || isHere(address.hostname || lastOf(address, 'host') || '')) return 'local';
  return url.startsWith('rediss://') && !address.searchParams.has('tls') ? 'verified' : 'plain';
}

function lastOf({ searchParams }: URL, name: string): string | undefined {
  return searchParams.getAll(name).at(-1);
}

/** A socket, or this machine. */
function isHere(host: string): boolean {
  return host === '' || host === '::1' || /^(?:\/|%2f)/i.test(host) || isLoopback(host.toLowerCase());
}

/**
 * An address for PostgreSQL's driver that leaves nothing to its environment: it would take a missing host from PGHOST. The path of
 * the authority's certificate becomes absolute. Other addresses stay as they are.
 *
 * @param folder the base of relative paths
 * @param ca an authority's certificate that stands beside the address
 */
export function completePostgresUrl(url: string, folder: string, ca = findAuthority(url)): string {
  if (!/^postgres(?:ql)?:/i.test(url)) return url;
  const address = new URL(url);
  const hasHost = address.hostname !== '' || Boolean(lastOf(address, 'host'));
  if (hasHost && ca === undefined) return url;
  if (!hasHost) address.searchParams.set('host', 'localhost');
  if (ca !== undefined) {
    address.searchParams.set('sslrootcert', resolve(folder, ca));
    if (!address.searchParams.has('sslmode')) address.searchParams.set('sslmode', 'verify-full');
  }
  return address.href;
}

/** The file of the authority's certificate that an address for PostgreSQL names. */
export function findAuthority(url: string): string | undefined {
  return /^postgres(?:ql)?:/i.test(url) ? lastOf(new URL(url), 'sslrootcert') || undefined : undefined;
}

/** What a pooler says when it is busy, or its server is away. */
const busyPooler = /timeout|cannot connect|no more connections|shutting down|login failed|closed|paused/i;
/** Names of parameters contain words such as "timeout". */
const refusedParameter = /parameter/i;

/**
 * Whether an error of PostgreSQL comes from a pooler between us and the server: it refuses start-up parameters, or lost or
 * doubled a prepared statement, because transactions share its sessions.
 *
 * @param code SQLSTATE
 */
export function needsOwnSession(code: string, message: string): boolean {
  if (['42P05', '26000'].includes(code)) return true;
  return code === '08P01' && (refusedParameter.test(message) || !busyPooler.test(message));
}

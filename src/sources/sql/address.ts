import { readMysqlMode } from '../../base/connection-security.js';
import { mayContainUnescapedPassword } from '../../transports/http/transport.js';

/** Whether the connection is encrypted, and whether the server's certificate is verified. */
type MysqlTls = 'off' | 'unverified' | 'verified';

export type SqlAddress =
  | { readonly kind: 'postgres'; readonly location: string; readonly url: string }
  | { readonly kind: 'mysql'; readonly location: string; readonly login: MysqlLogin };

export interface MysqlLogin {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** The path of the server's socket, in place of host and port. */
  readonly socket: string | undefined;
  /** Undefined if the address doesn't say. */
  readonly tls: MysqlTls | undefined;
}

const mysqlPort = 3306;
export const sqlAddressForms = 'postgres://…, mysql://… or mariadb://…';
const howToWriteSigns =
  'signs such as @ / ? # in a user or a password are written %40 %2F %3F %23, and a % itself is %25';

/**
 * Parses `postgres://`, `postgresql://`, `mysql://` and `mariadb://` (with `?sslmode=` and, for MySQL, `?socket=`). `location` is the address without user, password and parameters, safe to show.
 *
 * @throws RangeError for anything else; its message doesn't quote the address
 */
export function readSqlAddress(address: string): SqlAddress {
  if (mayContainUnescapedPassword(address)) {
    throw new RangeError(`the address has an @ after the host: ${howToWriteSigns}`);
  }
  const url = /^[a-z]+:\/\/./i.test(address) && URL.canParse(address) ? new URL(address) : undefined;
  switch (url?.protocol) {
    case 'postgres:':
    case 'postgresql:':
      return { kind: 'postgres', location: locationOf(url), url: address };
    case 'mysql:':
    case 'mariadb:':
      return { kind: 'mysql', location: locationOf(url), login: readLogin(url) };
    default:
      throw new RangeError(`expected ${sqlAddressForms}; ${howToWriteSigns}`);
  }
}

function locationOf(url: URL): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  shown.search = '';
  shown.hash = '';
  const isSocket =
    shown.hostname === '' || shown.hostname.startsWith('%2F') || url.searchParams.has('socket');
  const usualPort = shown.protocol.startsWith('postgres') ? '5432' : '3306';
  if (!isSocket && shown.port === '') shown.port = usualPort;
  return shown.href;
}

function readLogin(url: URL): MysqlLogin {
  if ([...url.searchParams.keys()].some((name) => !['sslmode', 'ssl-mode', 'socket'].includes(name)))
    throw new RangeError('the address has an unknown parameter; only sslmode and socket are known');
  const database = decode(url.pathname.replace(/^\//, ''));
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1') || 'localhost',
    port: url.port === '' ? mysqlPort : Number(url.port),
    user: decode(url.username) || undefined,
    password: decode(url.password) || undefined,
    database: database || undefined,
    socket: url.searchParams.get('socket') ?? undefined,
    tls: readTls(readMysqlMode(url)),
  };
}

/** Uses the values of PostgreSQL's driver, with the same meaning. */
function readTls(mode: string | undefined): MysqlTls | undefined {
  switch (mode) {
    case undefined:
      return undefined;
    case 'disable':
      return 'off';
    case 'no-verify':
      return 'unverified';
    case 'prefer':
    case 'require':
    case 'verify-ca':
    case 'verify-full':
      return 'verified';
    default:
      throw new RangeError('sslmode in the address must be disable, no-verify, require or verify-full');
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RangeError('a % in the address is not followed by two hexadecimal digits; a % itself is %25');
  }
}

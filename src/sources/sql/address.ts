import { readMysqlMode } from '../../base/connection-security.js';
import { mayContainUnescapedPassword } from '../../transports/http/transport.js';

export type SqlAddress =
  | { readonly kind: 'postgres'; readonly location: string; readonly url: string }
  | { readonly kind: 'mysql'; readonly location: string; readonly login: MysqlLogin };

/** As the driver takes it. What the address doesn't say is empty. */
export interface MysqlLogin {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** The path of the server's socket, in place of host and port. */
  readonly socketPath: string;
  readonly ssl?: { readonly rejectUnauthorized: boolean; readonly verifyIdentity: boolean };
}

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

const mysqlPort = '3306';

function locationOf({ protocol, hostname, port, pathname, searchParams }: URL): string {
  const isSocket = hostname === '' || hostname.startsWith('%2F') || searchParams.has('socket');
  const usualPort = protocol.startsWith('postgres') ? '5432' : mysqlPort;
  const shownPort = port || (isSocket ? '' : usualPort);
  return `${protocol}//${hostname}${shownPort && `:${shownPort}`}${pathname}`;
}

function readLogin(url: URL): MysqlLogin {
  if ([...url.searchParams.keys()].some((name) => !['sslmode', 'ssl-mode', 'socket'].includes(name)))
    throw new RangeError('the address has an unknown parameter; only sslmode and socket are known');
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1') || 'localhost',
    port: Number(url.port || mysqlPort),
    user: decode(url.username),
    password: decode(url.password),
    database: decode(url.pathname.replace(/^\//, '')),
    socketPath: url.searchParams.get('socket') ?? '',
    ...readTls(readMysqlMode(url)),
  };
}

/** Uses the values of PostgreSQL's driver, with the same meaning. */
function readTls(mode = 'disable') {
  if (mode === 'disable') return {};
  if (!/^(?:no-verify|prefer|require|verify-ca|verify-full)$/.test(mode))
    throw new RangeError('sslmode in the address must be disable, no-verify, require or verify-full');
  const isVerified = mode !== 'no-verify';
  return { ssl: { rejectUnauthorized: isVerified, verifyIdentity: isVerified } };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RangeError('a % in the address is not followed by two hexadecimal digits; a % itself is %25');
  }
}

import { isIPv4 } from 'node:net';

/**
 * Whether a host is this machine, the only one that plain `http://` may be used for. (Design 10.)
 *
 * @param hostname of a parsed URL, which always writes an IPv4 address as four numbers
 */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '[::1]' || (hostname.startsWith('127.') && isIPv4(hostname))
  );
}

/** The same for a host to listen on, whose IPv6 address has no brackets. */
export function isLoopbackAddress(host: string): boolean {
  return isLoopback(host) || host === '::1';
}

/**
 * Whether an address has an @ after its host. Then an unescaped `/`, `?` or `#` in its password ended the host early,
 * and the rest of the password follows. Such an address must not be shown.
 */
export function mayContainUnescapedPassword(address: string): boolean {
  return /^[a-z0-9+.-]+:\/\/[^/?#]*[/?#].*@/is.test(address);
}

/** Only the host and port of an address: safe to show. */
export function describeHost(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
}

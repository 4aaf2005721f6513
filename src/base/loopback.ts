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

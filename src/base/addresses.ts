import { isIP, isIPv4 } from 'node:net';

/**
 * Whether a host is this machine, the only one that plain `http://` may be used for.
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

/** Whether this is an address, or a network as an address with the length of its prefix. */
export function isAddressOrNetwork(written: string): boolean {
  return readNetwork(written) !== undefined;
}

/** @returns undefined for anything else */
export function readNetwork(written: string) {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(written) ?? [];
  const longest = isIP(address) === 4 ? 32 : 128;
  const length = Number(prefix ?? longest);
  return isIP(address) === 0 || length > longest ? undefined : { address, length };
}

export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** What a proxy in front of this server must pass on, so that people can sign in. */
export function describeNeededHost({ host }: URL): string {
  return `The proxy must pass on the header Host as the browser sent it (${host}), or nobody can sign in: Caddy does so by itself, nginx with "proxy_set_header Host $host;".`;
}

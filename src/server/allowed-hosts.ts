import { isIPv6 } from 'node:net';
import { isLoopback } from '../http/transport.js';

/** A name or an address, IPv6 in brackets, with or without a port. */
const hostHeader = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/**
 * Whether a request may name this host. A page of another site can let its own name resolve to this machine and then read what a
 * browser here gets (DNS rebinding), but it can't change the name in the header.
 *
 * @param names the configured ones; an address that is connected to and loopback names are always allowed
 */
export function createHostCheck(
  names: readonly string[],
): (header: string | undefined, localAddress: string | undefined) => boolean {
  const allowed = new Set(names.map(normalise));
  return (header, localAddress) => {
    const given = hostHeader.exec(header ?? '')?.[1];
    if (given === undefined) return false;
    const host = normalise(given);
    if (isLoopback(host) || allowed.has(host)) return true;
    return localAddress !== undefined && host === normalise(localAddress);
  };
}

/** As a parsed URL writes it: lower case, one form of each address. */
function normalise(host: string): string {
  const address = host.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  const url = `http://${isIPv6(address) ? `[${address}]` : address}`;
  return (URL.canParse(url) ? new URL(url).hostname : address.toLowerCase()).replace(/\.$/, '');
}

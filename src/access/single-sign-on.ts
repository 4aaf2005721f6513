import { BlockList, isIP } from 'node:net';
import type { AccessRequest } from './access.js';
import { readUserName } from './users-file.js';

/** A proxy that signs people in, and passes on their names. */
export interface SingleSignOn {
  /** The header with the name. */
  readonly header: string;
  /** The addresses of the proxies, or networks such as 10.0.3.0/24. From elsewhere the header is ignored. */
  readonly proxies: readonly string[];
}

/** Whether this is an address, or a network as an address with the length of its prefix. */
export function isAddressOrNetwork(written: string): boolean {
  const [address = '', prefix] = written.split('/');
  const longest = isIP(address) === 4 ? 32 : 128;
  return (
    isIP(address) !== 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= longest))
  );
}

/** A function that finds the name a trusted proxy vouches for. */
export function createNameFinder({
  header,
  proxies,
}: SingleSignOn): (request: AccessRequest) => string | undefined {
  const trusted = new BlockList();
  for (const written of proxies) {
    const [address = '', prefix] = written.split('/');
    const family = familyOf(address);
    if (prefix === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(prefix), family);
  }
  const name = header.toLowerCase();
  return ({ headers, remoteAddress = '' }) => {
    const written = headers[name];
    if (typeof written !== 'string' || isIP(remoteAddress) === 0) return undefined;
    return trusted.check(remoteAddress, familyOf(remoteAddress)) ? readUserName(written) : undefined;
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

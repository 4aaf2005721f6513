import { isIP } from 'node:net';

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

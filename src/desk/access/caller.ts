import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { familyOf, readNetwork } from '../../base/addresses.js';

/** Where a request came from. */
export interface Sender {
  readonly headers: IncomingHttpHeaders;
  /** From the socket; undefined once that is closed. */
  readonly ip: string | undefined;
}

/** To be read before anything is awaited: of a connection that was closed since, nobody knows the address. */
export function senderOf({ headers, raw }: FastifyRequest): Sender {
  return { headers, ip: raw.socket.remoteAddress };
}

export type FindCaller = ReturnType<typeof createCallerFinder>;

/**
 * The one function that says who the caller is. A trusted proxy appends the address that it was asked from to `X-Forwarded-For`;
 * whatever stands before that came from outside, unless another trusted proxy appended it.
 *
 * @param proxies those that are trusted, as addresses or networks such as 10.0.3.0/24
 */
export function createCallerFinder(proxies: readonly string[]) {
  const trusted = new BlockList();
  for (const written of proxies) {
    const { address, length } = readNetwork(written) ?? {};
    if (address === undefined || length === undefined) throw new RangeError(`no network: ${written}`);
    trusted.addSubnet(address, length, familyOf(address));
  }
  const isTrusted = (address: string) => address !== '' && trusted.check(address, familyOf(address));

  return ({ headers, ip = '' }: Sender) => {
    const connected = readAddress(ip) ?? '';
    const passedOn = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    let address = connected;
    while (isTrusted(address)) {
      const before = readPassedOn(passedOn.pop() ?? '');
      if (before === undefined) break;
      address = before;
    }
    return {
      /** In its one form; of the last proxy that is known if the proxy does not say who asked it; empty if unknown. */
      address,
      /** Whether the address is the caller's own: behind that of a proxy, or of one that is not known as such, may be everybody. */
      isOwnAddress: proxies.length > 0 && address !== '' && !isTrusted(address),
      /** Whether a trusted proxy passed the request on, and vouches for its headers. */
      isVouchedFor: isTrusted(connected),
    };
  };
}

/** An entry of `X-Forwarded-For`; some proxies add the port. */
function readPassedOn(entry: string): string | undefined {
  const [, inBrackets, beforePort] = /^\s*(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)\s*$/.exec(entry) ?? [];
  return readAddress(inBrackets ?? beforePort ?? entry.trim());
}

/** An address in its one form, without a zone; IPv4 also where it is written as IPv6. Undefined for anything else. */
function readAddress(written: string): string | undefined {
  const address = written.replace(/%.*$/, '');
  if (isIP(address) === 0) return undefined;
  return new SocketAddress({ address, family: familyOf(address) }).address.replace(/^::ffff:(?=\d+\.)/, '');
}

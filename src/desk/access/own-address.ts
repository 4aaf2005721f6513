import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../base/loopback.js';
import { describeNeededHost } from '../../base/networks.js';

/**
 * What the address says under which a browser reaches this server: whether cookies are safe, and whether a form is ours. Requests
 * for hosts that are not ours were refused before.
 *
 * @param publicUrl where people reach it, if that is configured
 */
export function createOwnAddress(publicUrl: string | undefined) {
  const published = publicUrl === undefined ? undefined : new URL(publicUrl);
  const isTls = published?.protocol === 'https:';

  return {
    /** Whether the browser uses TLS. Only on this machine there may be none. */
    isSecure: (headers: IncomingHttpHeaders): boolean => isTls || !isLoopback(readHost(headers).hostname),
    /** Why nobody can sign in under this address, as a sentence; undefined if one can. */
    findFault(headers: IncomingHttpHeaders): string | undefined {
      if (isTls && readHost(headers).hostname !== published.hostname) return describeNeededHost(published);
      const { origin = '' } = headers;
      const isPlain = origin.startsWith('http://') && URL.canParse(origin);
      return isPlain && !isLoopback(new URL(origin).hostname) ? needsTls : undefined;
    },
    /** Whether a form comes from a page of ours; undefined if the request has no origin. */
    isOurs(headers: IncomingHttpHeaders): boolean | undefined {
      const { origin = 'null' } = headers;
      if (origin === 'null') return undefined;
      if (origin === published?.origin) return true;
      const [protocol] = /^https?:(?=\/\/[^/])/.exec(origin) ?? [];
      return protocol !== undefined && origin === `${protocol}//${readHost(headers, protocol).host}`;
    },
  };
}

/** The host that a request names, as a parsed URL writes it. */
function readHost({ host = '' }: IncomingHttpHeaders, protocol = 'http:') {
  const written = `${protocol}//${host}`;
  return URL.canParse(written) ? new URL(written) : { host: '', hostname: '' };
}

const needsTls =
  'Signing in from another machine needs https: over plain http, browsers keep no session, and anyone in between could read the password.';

import { isIPv4 } from 'node:net';

const httpDate = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -](\d{2}|\d{4}) \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The wait that a `Retry-After` header asks for, in milliseconds from `now`. Reads both forms of RFC 9110: whole
 * seconds and an HTTP date. Undefined when it asks for no wait (0, a moment in the past) or is unreadable: then the
 * ordinary back-off applies.
 */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const milliseconds = /^\d+$/.test(text)
    ? Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER)
    : httpDate.test(text)
      ? Date.parse(text) - now.getTime()
      : Number.NaN;
  return milliseconds > 0 ? milliseconds : undefined;
}

/** The time in a `Date` header; undefined when it holds none. */
export function readDate(header: string | undefined): Date | undefined {
  const milliseconds = Date.parse(header ?? '');
  return Number.isNaN(milliseconds) ? undefined : new Date(milliseconds);
}

/** Percent-encodes a name or value of a query. A slash may stand in a query as it is. (RFC 3986, 3.4.) */
export function encodeQueryPart(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%2F', '/');
}

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

import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../http/transport.js';

/** The cookie of a session. */
export interface SessionCookie {
  /** Its value in a request. */
  read(headers: IncomingHttpHeaders): string | undefined;
  /** A `Set-Cookie` header. It lasts until the browser is closed, or the session ends. */
  write(value: string): string;
  /** A `Set-Cookie` header that removes it. */
  clear(): string;
}

/**
 * The cookie for the host that a request names. Browsers send it only over TLS and only to this very host, except on this machine,
 * where there is no TLS.
 */
export function sessionCookieFor({ host = '' }: IncomingHttpHeaders): SessionCookie {
  const isSecure = !isLoopback(host.replace(/:\d+$/, '').toLowerCase());
  const name = isSecure ? '__Host-hotel-review' : 'hotel-review';
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  const start = `${name}=`;
  return {
    read: ({ cookie = '' }) =>
      cookie
        .split(/; */)
        .find((pair) => pair.startsWith(start))
        ?.slice(start.length),
    write: (value) => `${start}${value}; ${attributes}`,
    clear: () => `${start}; Max-Age=0; ${attributes}`,
  };
}

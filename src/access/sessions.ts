import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { isLoopback } from '../http/transport.js';
import type { User, Users } from './users-file.js';

/** What a signed cookie holds. Times are in epoch milliseconds. */
const schema = z.strictObject({
  /** Random, and the same until the session ends. */
  id: z.string().min(1),
  name: z.string(),
  startedAt: z.int(),
  /** When its user was last active. */
  seenAt: z.int(),
});

export type Session = z.output<typeof schema>;

/** Even if its user stays active. */
const longestMs = 12 * 3_600_000;

/** The value of a session's cookie: `CONTENT.SIGNATURE`. */
export function sealSession(session: Session, users: Users, user: User): string {
  const content = Buffer.from(JSON.stringify(session)).toString('base64url');
  return `${content}.${sign(content, users, user).toString('base64url')}`;
}

/** The session of a cookie, and its user as in the file now; undefined for a forged cookie, or a former user's. */
export function openSession(sealed: string, users: Users) {
  const [content = '', signature = ''] = sealed.split('.');
  const session = parse(content);
  const user = users.users.find(({ name }) => name === session?.name);
  if (session === undefined || user === undefined) return undefined;
  const given = Buffer.from(signature, 'base64url');
  const right = sign(content, users, user);
  return given.length === right.length && timingSafeEqual(given, right) ? { session, user } : undefined;
}

/** Whether a session is neither idle nor too old. A clock that was set back by more than the idle time ends it, too. */
export function isAlive({ startedAt, seenAt }: Session, now: number, idleMs: number): boolean {
  return Math.abs(now - seenAt) < idleMs && now - startedAt < longestMs;
}

/** When a session ends at the latest. */
export function endOf({ startedAt }: Session): number {
  return startedAt + longestMs;
}

/** The token of the forms of a session, or of somebody whose name a proxy vouches for. */
export function createCsrfToken({ key }: Users, kind: 'session' | 'proxy', bearer: string): string {
  return authenticate(key, ['form', kind, bearer]).toString('base64url');
}

/** Changing or removing the password invalidates all earlier sessions. */
function sign(content: string, { key }: Users, { name, password = '' }: User): Buffer {
  return authenticate(key, ['session', name, password, content]);
}

/** As JSON, so that no part can run into the next. */
function authenticate(key: Buffer, parts: readonly string[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest();
}

function parse(content: string): Session | undefined {
  try {
    return schema.safeParse(JSON.parse(Buffer.from(content, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

/** The value of a cookie in a request. */
export function readCookie({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  const start = `${name}=`;
  const pair = cookie.split(/; */).find((given) => given.startsWith(start));
  return pair?.slice(start.length);
}

/**
 * The cookie for the host that a request names. Browsers send it only over TLS and only to this very host, except on this machine,
 * where there is no TLS.
 */
export function sessionCookieOf(headers: IncomingHttpHeaders) {
  const { host = '' } = headers;
  const isSecure = !isLoopback(host.replace(/:\d+$/, '').toLowerCase());
  const name = isSecure ? '__Host-hotel-review' : 'hotel-review';
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    value: readCookie(headers, name) ?? '',
    /** A `Set-Cookie` header. It lasts until the browser is closed, or the session ends. */
    write: (value: string) => `${name}=${value}; ${attributes}`,
    /** A `Set-Cookie` header that removes it. */
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}

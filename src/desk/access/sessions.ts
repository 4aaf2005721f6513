import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { hasPassed } from '../../base/elapsed.js';
import type { User, Users } from '../../storage/access/users-file.js';

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
  return `${content}.${sign(content, users, user)}`;
}

/** The session of a cookie, and its user as in the file now; undefined for a forged cookie, or a former user's. */
export function openSession(sealed: string, users: Users) {
  const [content = '', signature = ''] = sealed.split('.');
  const session = parse(content);
  const user = users.users.find(({ name }) => name === session?.name);
  if (session === undefined || user === undefined) return undefined;
  return isSame(signature, sign(content, users, user)) ? { session, user } : undefined;
}

/** Whether a session is neither idle nor too old. A clock that was set back by more than the idle time ends it, too. */
export function isAlive({ startedAt, seenAt }: Session, now: number, idleMs: number): boolean {
  return !hasPassed(idleMs, { since: seenAt, now }) && now - startedAt < longestMs;
}

/** When a session ends at the latest. */
export function endOf({ startedAt }: Session): number {
  return startedAt + longestMs;
}

/** The token of the forms of a session, of somebody whose name a proxy vouches for, or of a browser in which somebody signs in. */
export function createCsrfToken(
  { key }: Users,
  kind: 'session' | 'proxy' | 'sign-in',
  bearer: string,
): string {
  return authenticate(key, ['form', kind, bearer]);
}

/** What a browser keeps that somebody has signed in with: its id, and that it is known for this name. */
export function sealBrowser(id: string, { key }: Users, name: string): string {
  return `${id}.${authenticate(key, ['browser', name, id])}`;
}

/** The id of a browser in which nobody has signed in yet, or somebody did; undefined for a made-up one. */
export function readBrowserId(sealed: string): string | undefined {
  return /^([\w-]{22})(?:\.[\w-]{43})?$/.exec(sealed)?.[1];
}

/** Changing or removing the password invalidates all earlier sessions. */
function sign(content: string, { key }: Users, { name, password = '' }: User): string {
  return authenticate(key, ['session', name, password, content]);
}

/** As JSON, so that no part can run into the next. */
function authenticate(key: Buffer, parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}

/** Compares a text with a secret one, in the same time for all texts of its length. */
export function isSame(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function parse(content: string): Session | undefined {
  try {
    return schema.safeParse(JSON.parse(Buffer.from(content, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

export type CookieName = 'hotel-review' | 'hotel-review-browser' | 'hotel-review-message';

/**
 * A cookie of this very host: no other host of the domain can set it, and browsers send it only over TLS, except on this machine,
 * where there may be none. A link in an e-mail finds a signed-in visitor; what changes something needs a token besides.
 */
export function createCookie(name: CookieName, isSecure: boolean) {
  const start = `${isSecure ? '__Host-' : ''}${name}=`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read({ cookie = '' }: IncomingHttpHeaders): string {
      const pair = cookie.split(/; */).find((given) => given.startsWith(start));
      return pair?.slice(start.length) ?? '';
    },
    /** A `Set-Cookie` header. Without a time, it lasts until the browser is closed. */
    render: (value: string, seconds?: number): string =>
      `${start}${value}; ${seconds === undefined ? '' : `Max-Age=${seconds}; `}${attributes}`,
    /** A `Set-Cookie` header that removes it. */
    clear: (): string => `${start}; Max-Age=0; ${attributes}`,
  };
}

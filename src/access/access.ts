import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Credentials, createPasswordCheck } from './password-check.js';
import type { Visitor } from './roles.js';
import { sessionCookieFor } from './session-cookie.js';
import { createCsrfToken, endOf, isAlive, openSession, type Session, sealSession } from './sessions.js';
import { createNameFinder, type SingleSignOn } from './single-sign-on.js';
import type { Users, UsersFile } from './users-file.js';

/** The parts of a request that decide who is asking. */
export interface AccessRequest {
  readonly headers: IncomingHttpHeaders;
  /** From the socket. */
  readonly remoteAddress: string | undefined;
}

export interface Visit {
  readonly visitor: Visitor;
  readonly signedInBy: 'password' | 'proxy' | 'loopback' | 'hook';
  /** Each form must send it; undefined for visitors who have no forms. */
  readonly csrfToken: string | undefined;
  /** A `Set-Cookie` header that keeps the session alive, when it is due. */
  readonly setCookie?: string;
}

export type SignIn =
  /** With the `Set-Cookie` header of the session. */
  | { readonly kind: 'signed-in'; readonly visitor: Visitor; readonly cookie: string }
  /** With the name if such a user exists, for the audit trail. */
  | { readonly kind: 'wrong'; readonly knownName?: string }
  | { readonly kind: 'slowed'; readonly retryAfterSeconds: number };

/** Who may use the desk. Everything that reads the users' file throws UsersFileError if it is damaged. */
export interface Access {
  /** Without users, nobody can sign in. */
  hasUsers(): Promise<boolean>;
  /** Undefined if nobody is signed in. */
  identify(request: AccessRequest): Promise<Visit | undefined>;
  signIn(credentials: Credentials, request: AccessRequest): Promise<SignIn>;
  /** Ends the session of the request; returns the `Set-Cookie` header that removes its cookie. */
  signOut(request: AccessRequest): Promise<string>;
  /** Whether a form was sent from elsewhere than a page of this visit. */
  isForged(visit: Visit, token: string | undefined): boolean;
}

interface AccessOptions {
  /** Undefined where none is configured. */
  readonly users?: Pick<UsersFile, 'read'> | undefined;
  /** Whether only this machine can connect. Then everybody may look if there are no users. */
  readonly isLocal: boolean;
  readonly singleSignOn?: SingleSignOn | undefined;
  /** How long a session lasts without a request, in milliseconds. */
  readonly idleMs: number;
  readonly clock: () => number;
}

/** How often the cookie of an active session is renewed. */
const renewalMs = 60_000;

const anybody: Visit = {
  visitor: { name: 'anybody', role: 'viewer' },
  signedInBy: 'loopback',
  csrfToken: undefined,
};

export function createAccess({ users, isLocal, singleSignOn, idleMs, clock }: AccessOptions): Access {
  const findProxysName = singleSignOn && createNameFinder(singleSignOn);
  const checkPassword = createPasswordCheck({
    listUsers: async () => (await findUsers())?.users ?? [],
    clock,
  });
  /** The ids of sessions that were signed out of, and when each would have ended. */
  const ended = new Map<string, number>();

  /** Undefined unless there is at least one. */
  async function findUsers(): Promise<Users | undefined> {
    const found = await users?.read();
    return found && found.users.length > 0 ? found : undefined;
  }

  function findSession(known: Users, { headers }: AccessRequest) {
    const opened = openSession(sessionCookieFor(headers).read(headers) ?? '', known);
    if (opened === undefined || ended.has(opened.session.id)) return undefined;
    return isAlive(opened.session, clock(), idleMs) ? opened : undefined;
  }

  function visitByProxy(known: Users, request: AccessRequest): Visit | undefined {
    const name = findProxysName?.(request);
    const user = known.users.find((one) => one.name === name);
    if (user === undefined) return undefined;
    return {
      visitor: { name: user.name, role: user.role },
      signedInBy: 'proxy',
      csrfToken: createCsrfToken(known, 'proxy', user.name),
    };
  }

  function visitBySession(known: Users, request: AccessRequest): Visit | undefined {
    const opened = findSession(known, request);
    if (opened === undefined) return undefined;
    const { session, user } = opened;
    const now = clock();
    const isDue = now - session.seenAt >= renewalMs && !isStream(request.headers);
    const renew = () => sealSession({ ...session, seenAt: now }, known, user);
    return {
      visitor: { name: user.name, role: user.role },
      signedInBy: 'password',
      csrfToken: createCsrfToken(known, 'session', session.id),
      ...(isDue && { setCookie: sessionCookieFor(request.headers).write(renew()) }),
    };
  }

  return {
    hasUsers: async () => (await findUsers()) !== undefined,
    async identify(request) {
      const known = await findUsers();
      if (known === undefined) return isLocal ? anybody : undefined;
      return visitByProxy(known, request) ?? visitBySession(known, request);
    },
    async signIn(credentials, request) {
      const checked = await checkPassword(credentials, request.remoteAddress ?? '');
      if (checked.kind !== 'right') return checked;
      const known = await findUsers();
      // The file may have changed while the password was being checked.
      const user = known?.users.find(
        ({ name, password }) => name === checked.user.name && password === checked.user.password,
      );
      if (known === undefined || user === undefined) return { kind: 'wrong' };
      const now = clock();
      const id = randomBytes(16).toString('base64url');
      const session: Session = { id, name: user.name, startedAt: now, seenAt: now };
      const cookie = sessionCookieFor(request.headers).write(sealSession(session, known, user));
      return { kind: 'signed-in', visitor: { name: user.name, role: user.role }, cookie };
    },
    async signOut(request) {
      const known = await findUsers();
      const opened = known && findSession(known, request);
      const now = clock();
      for (const [id, until] of ended) if (until <= now) ended.delete(id);
      if (opened) ended.set(opened.session.id, endOf(opened.session));
      return sessionCookieFor(request.headers).clear();
    },
    isForged({ csrfToken }, token) {
      if (csrfToken === undefined || token === undefined) return true;
      const [right, given] = [Buffer.from(csrfToken), Buffer.from(token)];
      return right.length !== given.length || !timingSafeEqual(right, given);
    },
  };
}

/** An event stream reconnects by itself, so it is no sign of an active user. */
function isStream({ accept = '' }: IncomingHttpHeaders): boolean {
  return accept.includes('text/event-stream');
}

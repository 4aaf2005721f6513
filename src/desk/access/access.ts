import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { describeNeededHost, isLoopback } from '../../base/addresses.js';
import { hasPassed } from '../../base/elapsed.js';
import { createBackOff, decoyHash, isPassword } from '../../storage/access/passwords.js';
import type { Visitor } from '../../storage/access/roles.js';
import { readUserName, type User, type Users } from '../../storage/access/users-file.js';
import { createCallerFinder, type Sender } from './caller.js';
import {
  type CookieName,
  createCookie,
  createCsrfToken,
  endOf,
  isAlive,
  isSame,
  openSession,
  readBrowserId,
  sealBrowser,
  sealSession,
} from './sessions.js';

export interface Visit {
  readonly visitor: Visitor;
  readonly signedInBy: 'password' | 'proxy' | 'loopback' | 'hook';
  /** Each form must send it; undefined for visitors who have no forms. */
  readonly csrfToken: string | undefined;
  /** A `Set-Cookie` header that keeps the session alive, when it is due. */
  readonly setCookie?: string;
}

interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** How often the cookie of an active session is renewed. */
const renewalMs = 60_000;
/** How long a browser is known that somebody signed in with. */
const browserSeconds = 90 * 86_400;

const anybody: Visit = {
  visitor: { name: 'anybody', role: 'viewer' },
  signedInBy: 'loopback',
  csrfToken: undefined,
};

export type Access = ReturnType<typeof createAccess>;

/** Who may use the desk. Everything that reads the users' file throws UsersFileError if it is damaged. */
export function createAccess(parts: {
  /** Undefined where none is configured. */
  readonly users?: { read(): Promise<Users | undefined> } | undefined;
  /** Whether only this machine can connect. Then everybody may look if there are no users. */
  readonly isLocal: boolean;
  /** The addresses and networks of trusted proxies. */
  readonly proxies?: readonly string[];
  /** Where people reach this server, if that is configured. */
  readonly publicUrl?: string | undefined;
  /** The header with the name of somebody who signed in at a trusted proxy; from elsewhere it is ignored. */
  readonly nameHeader?: string | undefined;
  /** How long a session lasts without a request, in milliseconds. */
  readonly idleMs: number;
  readonly clock: () => number;
}) {
  const { users, isLocal, proxies = [], publicUrl, nameHeader, idleMs, clock } = parts;
  const findCaller = createCallerFinder(proxies);
  const ownAddress = createOwnAddress(publicUrl);
  const checkPassword = createPasswordCheck(findUsers, clock);
  /** The ids of sessions that were signed out of, and when each would have ended. */
  const ended = new Map<string, number>();

  /** Undefined unless there is at least one. */
  async function findUsers(): Promise<Users | undefined> {
    const found = await users?.read();
    return found && found.users.length > 0 ? found : undefined;
  }

  function cookieFor({ headers }: Sender, name: CookieName) {
    return createCookie(name, ownAddress.isSecure(headers));
  }

  function findSession(known: Users, request: Sender) {
    const opened = openSession(cookieFor(request, 'hotel-review').read(request.headers), known);
    if (opened === undefined || ended.has(opened.session.id)) return undefined;
    return isAlive(opened.session, clock(), idleMs) ? opened : undefined;
  }

  function visitByProxy(known: Users, request: Sender): Visit | undefined {
    const written = request.headers[nameHeader?.toLowerCase() ?? ''];
    if (typeof written !== 'string' || !findCaller(request).isVouchedFor) return undefined;
    const name = readUserName(written);
    const user = known.users.find((one) => one.name === name);
    if (user === undefined) return undefined;
    const csrfToken = createCsrfToken(known, 'proxy', user.name);
    return { visitor: toVisitor(user), signedInBy: 'proxy', csrfToken };
  }

  function visitBySession(known: Users, request: Sender): Visit | undefined {
    const opened = findSession(known, request);
    if (opened === undefined) return undefined;
    const { session, user } = opened;
    const now = clock();
    const isDue = !isOfScript(request.headers) && hasPassed(renewalMs, { since: session.seenAt, now });
    const renew = () => sealSession({ ...session, seenAt: now }, known, user);
    return {
      visitor: toVisitor(user),
      signedInBy: 'password',
      csrfToken: createCsrfToken(known, 'session', session.id),
      ...(isDue && { setCookie: cookieFor(request, 'hotel-review').render(renew()) }),
    };
  }

  return {
    /** Without users, nobody can sign in. */
    hasUsers: async () => (await findUsers()) !== undefined,
    /** Undefined if nobody is signed in. */
    async identify(request: Sender): Promise<Visit | undefined> {
      const known = await findUsers();
      if (known === undefined) return isLocal ? anybody : undefined;
      return visitByProxy(known, request) ?? visitBySession(known, request);
    },
    /** The cookie of this name for the host that the request names. */
    cookieFor,
    /** Why nobody can sign in under the address that the request names, as a sentence; undefined if one can. */
    findFault: ({ headers }: Sender) => ownAddress.findFault(headers),
    /** What the form for signing in must send, and the `Set-Cookie` header that goes with it. */
    async openForm(request: Sender) {
      const cookie = cookieFor(request, 'hotel-review-browser');
      const given = readBrowserId(cookie.read(request.headers));
      const id = given ?? createId();
      const known = await findUsers();
      const token = known && createCsrfToken(known, 'sign-in', id);
      return { token, ...(given === undefined && { setCookie: cookie.render(id) }) };
    },
    /** Whether the form for signing in comes from a page of ours, by its origin, or else by its token. */
    async isOwnForm(request: Sender, token: string | undefined): Promise<boolean> {
      const isOurs = ownAddress.isOurs(request.headers);
      if (isOurs !== undefined) return isOurs;
      const known = await findUsers();
      const id = readBrowserId(cookieFor(request, 'hotel-review-browser').read(request.headers));
      if (known === undefined || id === undefined || token === undefined) return false;
      return isSame(token, createCsrfToken(known, 'sign-in', id));
    },
    async signIn(credentials: Credentials, request: Sender) {
      const browserCookie = cookieFor(request, 'hotel-review-browser');
      const browser = browserCookie.read(request.headers);
      const { address, isOwnAddress } = findCaller(request);
      const checked = await checkPassword(credentials, browser, isOwnAddress ? address : undefined);
      if (checked.kind !== 'right') return { ...checked, address };
      const { known, user } = checked;
      const now = clock();
      const session = { id: createId(), name: user.name, startedAt: now, seenAt: now };
      const knownBrowser = sealBrowser(readBrowserId(browser) ?? createId(), known, user.name);
      return {
        kind: 'signed-in' as const,
        visitor: toVisitor(user),
        cookies: [
          // It opens nothing if the password was changed while it was being checked.
          cookieFor(request, 'hotel-review').render(sealSession(session, known, user)),
          browserCookie.render(knownBrowser, browserSeconds),
        ],
      };
    },
    /** Ends the session of the request; returns the `Set-Cookie` header that removes its cookie. */
    async signOut(request: Sender): Promise<string> {
      const known = await findUsers();
      const opened = known && findSession(known, request);
      const now = clock();
      for (const [id, until] of ended) if (until <= now) ended.delete(id);
      if (opened) ended.set(opened.session.id, endOf(opened.session));
      return cookieFor(request, 'hotel-review').clear();
    },
  };
}

/** A page that looks again by itself is no sign of an active user. Browsers name such requests of scripts. */
export function isOfScript(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-dest'] === 'empty';
}

function createId(): string {
  return randomBytes(16).toString('base64url');
}

function toVisitor({ name, role }: User): Visitor {
  return { name, role };
}

/** Hashing takes 32 MiB and a core for a moment, which reviews need too. */
const maxAtOnce = 2;
const maxWaiting = 20;
const busyRetrySeconds = 5;

/**
 * Checks passwords, a few at a time; failures make the address and the name wait. A browser in which somebody signed in before has
 * its own count for that name and goes first: otherwise whoever guesses at a name would lock it out.
 */
function createPasswordCheck(findUsers: () => Promise<Users | undefined>, clock: () => number) {
  const addresses = createBackOff(clock);
  const names = createBackOff(clock, (name) => name);
  const waiting: (() => void)[] = [];
  let atWork = 0;

  async function check({ name, password }: Credentials, who: string, address: string | undefined) {
    // Only now, because checks ahead of it in the queue may have failed.
    const retryAfterSeconds = Math.max(
      address === undefined ? 0 : addresses.findWait(address),
      names.findWait(who),
    );
    if (retryAfterSeconds > 0) return { kind: 'slowed' as const, retryAfterSeconds };
    const known = await findUsers();
    const user = known?.users.find((one) => one.name === name);
    if ((await isPassword(password, user?.password ?? decoyHash)) && known && user) {
      // Not of the address: whoever knows one password could otherwise guess those of others without a wait.
      names.recordSuccess(who);
      return { kind: 'right' as const, known, user };
    }
    if (address !== undefined) addresses.recordFailure(address);
    names.recordFailure(who);
    // An unknown name may be a password typed into the wrong field.
    return { kind: 'wrong' as const, ...(user && { knownName: user.name }) };
  }

  return async ({ name: written, password }: Credentials, browser: string, address: string | undefined) => {
    // An impossible name counts as a wrong one.
    const name = readUserName(written) ?? '';
    const known = await findUsers();
    const id = readBrowserId(browser);
    const isKnown = known !== undefined && id !== undefined && isSame(browser, sealBrowser(id, known, name));
    if (!isKnown && waiting.length >= maxWaiting)
      return { kind: 'slowed' as const, retryAfterSeconds: busyRetrySeconds };
    if (atWork < maxAtOnce) atWork += 1;
    else await new Promise<void>((resolve) => (isKnown ? waiting.unshift(resolve) : waiting.push(resolve)));
    try {
      // No name holds a space.
      return isKnown
        ? await check({ name, password }, `${name} ${id}`, undefined)
        : await check({ name, password }, name, address);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else atWork -= 1;
    }
  };
}

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

import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { createBackOff, decoyHash, isPassword } from './passwords.js';
import type { Visitor } from './roles.js';
import { createCsrfToken, endOf, isAlive, openSession, sealSession, sessionCookieOf } from './sessions.js';
import { readUserName, type User, type Users, type UsersFile } from './users-file.js';

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

interface Credentials {
  readonly name: string;
  readonly password: string;
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

export type Access = ReturnType<typeof createAccess>;

/** Who may use the desk. Everything that reads the users' file throws UsersFileError if it is damaged. */
export function createAccess({ users, isLocal, singleSignOn, idleMs, clock }: AccessOptions) {
  const findProxysName = singleSignOn && createNameFinder(singleSignOn);
  const checkPassword = createPasswordCheck(findUsers, clock);
  /** The ids of sessions that were signed out of, and when each would have ended. */
  const ended = new Map<string, number>();

  /** Undefined unless there is at least one. */
  async function findUsers(): Promise<Users | undefined> {
    const found = await users?.read();
    return found && found.users.length > 0 ? found : undefined;
  }

  function findSession(known: Users, { headers }: AccessRequest) {
    const opened = openSession(sessionCookieOf(headers).value, known);
    if (opened === undefined || ended.has(opened.session.id)) return undefined;
    return isAlive(opened.session, clock(), idleMs) ? opened : undefined;
  }

  function visitByProxy(known: Users, request: AccessRequest): Visit | undefined {
    const name = findProxysName?.(request);
    const user = known.users.find((one) => one.name === name);
    if (user === undefined) return undefined;
    const csrfToken = createCsrfToken(known, 'proxy', user.name);
    return { visitor: toVisitor(user), signedInBy: 'proxy', csrfToken };
  }

  function visitBySession(known: Users, request: AccessRequest): Visit | undefined {
    const opened = findSession(known, request);
    if (opened === undefined) return undefined;
    const { session, user } = opened;
    const now = clock();
    const isDue = !isOfScript(request.headers) && now - session.seenAt >= renewalMs;
    const renew = () => sealSession({ ...session, seenAt: now }, known, user);
    return {
      visitor: toVisitor(user),
      signedInBy: 'password',
      csrfToken: createCsrfToken(known, 'session', session.id),
      ...(isDue && { setCookie: sessionCookieOf(request.headers).write(renew()) }),
    };
  }

  return {
    /** Without users, nobody can sign in. */
    hasUsers: async () => (await findUsers()) !== undefined,
    /** Undefined if nobody is signed in. */
    async identify(request: AccessRequest): Promise<Visit | undefined> {
      const known = await findUsers();
      if (known === undefined) return isLocal ? anybody : undefined;
      return visitByProxy(known, request) ?? visitBySession(known, request);
    },
    async signIn(credentials: Credentials, { headers, remoteAddress = '' }: AccessRequest) {
      const checked = await checkPassword(credentials, remoteAddress);
      if (checked.kind !== 'right') return checked;
      const { known, user } = checked;
      const now = clock();
      const id = randomBytes(16).toString('base64url');
      const session = { id, name: user.name, startedAt: now, seenAt: now };
      // It opens nothing if the password was changed while it was being checked.
      const cookie = sessionCookieOf(headers).write(sealSession(session, known, user));
      return { kind: 'signed-in' as const, visitor: toVisitor(user), cookie };
    },
    /** Ends the session of the request; returns the `Set-Cookie` header that removes its cookie. */
    async signOut(request: AccessRequest): Promise<string> {
      const known = await findUsers();
      const opened = known && findSession(known, request);
      const now = clock();
      for (const [id, until] of ended) if (until <= now) ended.delete(id);
      if (opened) ended.set(opened.session.id, endOf(opened.session));
      return sessionCookieOf(request.headers).clear();
    },
    /** Whether a form was sent from elsewhere than a page of this visit. */
    isForged({ csrfToken }: Visit, token: string | undefined): boolean {
      if (csrfToken === undefined || token === undefined) return true;
      const [right, given] = [Buffer.from(csrfToken), Buffer.from(token)];
      return right.length !== given.length || !timingSafeEqual(right, given);
    },
  };
}

/** A page that looks again by itself is no sign of an active user. Browsers name such requests of scripts. */
export function isOfScript(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-dest'] === 'empty';
}

function toVisitor({ name, role }: User): Visitor {
  return { name, role };
}

/** Hashing takes 32 MiB and a core for a moment, which reviews need too. */
const maxAtOnce = 2;
const maxWaiting = 20;
const busyRetrySeconds = 5;

/** Checks passwords, a few at a time; failures make the address and the name wait. */
function createPasswordCheck(findUsers: () => Promise<Users | undefined>, clock: () => number) {
  const addresses = createBackOff(clock);
  const names = createBackOff(clock, (name) => name);
  const waiting: (() => void)[] = [];
  let atWork = 0;

  async function check({ name, password }: Credentials, address: string) {
    // An impossible name counts as a wrong one.
    const written = readUserName(name) ?? '';
    // Only now, because checks ahead of it in the queue may have failed.
    const retryAfterSeconds = Math.max(addresses.findWait(address), names.findWait(written));
    if (retryAfterSeconds > 0) return { kind: 'slowed' as const, retryAfterSeconds };
    const known = await findUsers();
    const user = known?.users.find((one) => one.name === written);
    if ((await isPassword(password, user?.password ?? decoyHash)) && known && user) {
      // Not of the address: whoever knows one password could otherwise guess those of others without a wait.
      names.recordSuccess(written);
      return { kind: 'right' as const, known, user };
    }
    addresses.recordFailure(address);
    names.recordFailure(written);
    // An unknown name may be a password typed into the wrong field.
    return { kind: 'wrong' as const, ...(user && { knownName: user.name }) };
  }

  return async (credentials: Credentials, address: string) => {
    if (waiting.length >= maxWaiting) return { kind: 'slowed' as const, retryAfterSeconds: busyRetrySeconds };
    if (atWork < maxAtOnce) atWork += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await check(credentials, address);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else atWork -= 1;
    }
  };
}

/** A proxy that signs people in, and passes on their names. */
interface SingleSignOn {
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
function createNameFinder({ header, proxies }: SingleSignOn): (request: AccessRequest) => string | undefined {
  const trusted = new BlockList();
  for (const written of proxies) {
    const [address = '', prefix] = written.split('/');
    if (prefix === undefined) trusted.addAddress(address, familyOf(address));
    else trusted.addSubnet(address, Number(prefix), familyOf(address));
  }
  return ({ headers, remoteAddress = '' }) => {
    const written = headers[header.toLowerCase()];
    if (typeof written !== 'string' || isIP(remoteAddress) === 0) return undefined;
    return trusted.check(remoteAddress, familyOf(remoteAddress)) ? readUserName(written) : undefined;
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

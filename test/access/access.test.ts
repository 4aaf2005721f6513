import { describe, expect, it } from 'vitest';
import { createAccess } from '../../src/desk/access/access.js';
import type { Sender } from '../../src/desk/access/caller.js';
import type { User, Users } from '../../src/storage/access/users-file.js';
import { password, someUsers } from './some-users.js';

const minuteMs = 60_000;
const local = { host: '127.0.0.1:8080' };

interface Start {
  readonly users?: Users | undefined;
  readonly isLocal?: boolean;
  readonly proxies?: readonly string[];
  readonly publicUrl?: string;
  readonly nameHeader?: string;
}

function start({ users = someUsers(), isLocal = true, ...others }: Start = {}) {
  let now = Date.parse('2026-11-21T02:30:00Z');
  let known: Users | undefined = users;
  const access = createAccess({
    users: { read: async () => known },
    isLocal,
    ...others,
    idleMs: 30 * minuteMs,
    clock: () => now,
  });
  const request = (headers: Sender['headers'] = {}, remoteAddress = '127.0.0.1'): Sender => ({
    headers: { ...local, ...headers },
    remoteAddress,
  });
  const signIn = (name: string, word = password, from = request()) =>
    access.signIn({ name, password: word }, from);
  return {
    access,
    request,
    signIn,
    /** Signs in, and returns what a browser would send from then on. */
    async enter(name: string, headers: Sender['headers'] = {}): Promise<Sender> {
      const answer = await signIn(name, password, request(headers));
      if (answer.kind !== 'signed-in') throw new Error(answer.kind);
      return request({ ...headers, cookie: answer.cookies.map((cookie) => cookie.split(';')[0]).join('; ') });
    },
    pass: (minutes: number) => {
      now += minutes * minuteMs;
    },
    changeUsers: (change: (users: readonly User[]) => readonly User[]) => {
      known = known && { ...known, users: change(known.users) };
    },
    removeFile: () => {
      known = undefined;
    },
  };
}

describe('without users', () => {
  const none = { ...someUsers(), users: [] };

  it('everybody on this machine may look, but gets no forms', async () => {
    const { access, request, removeFile } = start({ users: none });
    const visit = await access.identify(request());
    const visitor = { name: 'anybody', role: 'viewer' };
    expect(visit).toEqual({ visitor, signedInBy: 'loopback', csrfToken: undefined });
    expect(visit && access.isForged(visit, '')).toBe(true);
    expect(await access.hasUsers()).toBe(false);
    removeFile();
    expect(await access.identify(request())).toEqual(visit);
  });

  it('nobody who could be on another machine may look', async () => {
    const { access, request, signIn } = start({ users: none, isLocal: false });
    expect(await access.identify(request())).toBeUndefined();
    expect(await signIn('anybody')).toMatchObject({ kind: 'wrong' });
  });
});

describe('signing in', () => {
  it.each([
    ['localhost:8080', '', ''],
    ['review.example.com', '__Host-', '; Secure'],
  ])(
    'under %s sets cookies of this host only, for TLS unless it is this machine',
    async (host, prefix, end) => {
      const { signIn, request } = start();
      const attributes = `Path=/; HttpOnly; SameSite=Lax${end}`;
      const cookies = [
        `^${prefix}hotel-review=[\\w-]+\\.[\\w-]+; ${attributes}$`,
        `^${prefix}hotel-review-browser=[\\w-]+\\.[\\w-]+; Max-Age=7776000; ${attributes}$`,
      ].map((form) => expect.stringMatching(new RegExp(form)));
      expect(await signIn('tina', password, request({ host }))).toMatchObject({ cookies });
    },
  );

  it('under an https address of our own sets cookies for TLS only, whatever host a request names', async () => {
    const { signIn, request, access } = start({ publicUrl: 'https://localhost:8443' });
    const answer = await signIn('tina', password, request({ host: 'localhost:8443' }));
    const cookies = 'cookies' in answer ? (answer.cookies ?? []) : [];
    expect(cookies.length).toBe(2);
    for (const cookie of cookies) expect(cookie).toMatch(/^__Host-.*; Secure$/);
    const [session = ''] = cookies;
    const withoutPrefix = session.replace('__Host-', '').split(';')[0] ?? '';
    expect(await access.identify(request({ cookie: withoutPrefix }))).toBeUndefined();
  });

  it('fails with a wrong password, and names only a user who is known', async () => {
    const { signIn } = start();
    const address = '127.0.0.1';
    expect(await signIn('tina', 'four random words there')).toEqual({
      kind: 'wrong',
      knownName: 'tina',
      address,
    });
    expect(await signIn('four random words here')).toEqual({ kind: 'wrong', address });
    // Without a password in the file, none is right.
    expect(await signIn('sso@example.com', '')).toMatchObject({ kind: 'wrong' });
  });

  /** Signs in as somebody whose address the proxy appended. */
  const behindProxy = (at: ReturnType<typeof start>, address: string) => (name: string, word?: string) =>
    at.signIn(name, word, at.request({ 'x-forwarded-for': address }));

  it('from one address is slowed down after five failures, even with the right password', async () => {
    const at = start({ proxies: ['127.0.0.1'] });
    const [guesser, other] = [behindProxy(at, '203.0.113.7'), behindProxy(at, '203.0.113.8')];
    for (const name of ['ada', 'oskar', 'tina', 'vera', 'nobody']) await guesser(name, 'wrong');
    const slowed = { kind: 'slowed', retryAfterSeconds: 1, address: '203.0.113.7' };
    expect(await guesser('tina')).toEqual(slowed);
    expect(await other('tina')).toMatchObject({ kind: 'signed-in' });
    at.pass(1);
    expect(await guesser('tina')).toMatchObject({ kind: 'signed-in' });
  });

  it.each([
    ['no proxy is known', []],
    ['the proxy does not say who asked it', ['127.0.0.1']],
  ])('is slowed down by name only where %s: others may share the address', async (_, proxies) => {
    const { signIn, request } = start({ proxies });
    const spoofed = () => (proxies.length === 0 ? request({ 'x-forwarded-for': '203.0.113.7' }) : request());
    for (let guess = 0; guess < 6; guess += 1) await signIn(`somebody-${guess}`, 'wrong', spoofed());
    expect(await signIn('tina', password, spoofed())).toMatchObject({ kind: 'signed-in' });
    for (let guess = 0; guess < 5; guess += 1) await signIn('vera', 'wrong', spoofed());
    expect(await signIn('vera', password, spoofed())).toMatchObject({ kind: 'slowed' });
  });

  it('in a browser that signed in before is not kept from it by guesses of others, and gains none itself', async () => {
    const { signIn, request, enter } = start();
    const cookie = (await enter('tina')).headers.cookie?.split('; ')[1] ?? '';
    const known = request({ cookie });
    for (let guess = 0; guess < 12; guess += 1) await signIn('tina', 'wrong');
    expect(await signIn('tina')).toMatchObject({ kind: 'slowed' });
    expect(await signIn('tina', password, known)).toMatchObject({ kind: 'signed-in' });
    expect(await signIn('tina')).toMatchObject({ kind: 'slowed' });
    for (let guess = 0; guess < 5; guess += 1)
      expect(await signIn('tina', 'wrong', known)).toMatchObject({ kind: 'wrong' });
    expect(await signIn('tina', password, known)).toMatchObject({ kind: 'slowed' });
    const forged = [cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')), cookie.split('.')[0], ''];
    for (const other of forged)
      expect(await signIn('tina', password, request({ cookie: other }))).toMatchObject({ kind: 'slowed' });
    for (let guess = 0; guess < 5; guess += 1) await signIn('vera', 'wrong', known);
    expect(await signIn('vera', password, known)).toMatchObject({ kind: 'slowed' });
  });

  it('goes first in such a browser while others flood it with guesses', async () => {
    const { signIn, request, enter } = start();
    const { cookie } = (await enter('tina')).headers;
    const flood = Array.from({ length: 22 }, (_, guess) => signIn(`somebody-${guess}`, 'wrong'));
    expect(await signIn('vera')).toMatchObject({ kind: 'slowed' });
    expect(await signIn('tina', password, request({ cookie }))).toMatchObject({ kind: 'signed-in' });
    await Promise.all(flood);
  });

  it('for one name, known or not, is slowed down after five failures from anywhere', async () => {
    const { signIn, request } = start();
    for (const name of ['tina', 'nobody']) {
      for (let last = 1; last <= 5; last += 1) await signIn(name, 'wrong', request({}, `203.0.113.${last}`));
      expect(await signIn(name, password, request({}, '198.51.100.9'))).toMatchObject({ kind: 'slowed' });
    }
    expect(await signIn('vera', password, request({}, '198.51.100.9'))).toMatchObject({ kind: 'signed-in' });
  });

  it('does not check many at once: a flood is slowed down, and gains no guesses', async () => {
    const { signIn } = start();
    const answers = await Promise.all(Array.from({ length: 40 }, () => signIn('tina', 'wrong')));
    const count = (kind: string) => answers.filter((answer) => answer.kind === kind).length;
    expect(count('wrong')).toBeLessThanOrEqual(6);
    expect(count('slowed')).toBe(40 - count('wrong'));
  });
});

describe('a session', () => {
  it('is kept alive by activity, with a new cookie now and then', async () => {
    const { access, enter, pass, request } = start();
    let browser = await enter('tina');
    for (let half = 0; half < 20; half += 1) {
      pass(29);
      const visit = await access.identify(browser);
      expect(visit?.setCookie).toMatch(/^hotel-review=/);
      browser = request({ cookie: visit?.setCookie?.split(';')[0] });
      expect(await access.identify(browser)).not.toHaveProperty('setCookie');
    }
    pass(29 * 5);
    expect(await access.identify(browser)).toBeUndefined();
  });

  it('is not kept alive by a page that looks again by itself', async () => {
    const { access, enter, pass } = start();
    const browser = await enter('tina');
    pass(29);
    const script = { ...browser, headers: { ...browser.headers, 'sec-fetch-dest': 'empty' } };
    expect(await access.identify(script)).not.toHaveProperty('setCookie');
  });

  it('ends on signing out, with every cookie it ever had', async () => {
    const { access, enter, pass, request } = start();
    const browser = await enter('tina');
    const other = await enter('tina');
    pass(2);
    const renewed = request({ cookie: (await access.identify(browser))?.setCookie?.split(';')[0] });
    expect(await access.signOut(renewed)).toBe('hotel-review=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax');
    expect(await access.identify(renewed)).toBeUndefined();
    expect(await access.identify(browser)).toBeUndefined();
    expect(await access.identify(other)).toBeDefined();
  });

  it('has the role that the user has now, and ends when the user is removed', async () => {
    const { access, enter, changeUsers } = start();
    const browser = await enter('tina');
    changeUsers((users) => users.map((user) => ({ ...user, role: 'operator' })));
    expect((await access.identify(browser))?.visitor.role).toBe('operator');
    changeUsers((users) => users.filter(({ name }) => name !== 'tina'));
    expect(await access.identify(browser)).toBeUndefined();
  });
});

describe('a form', () => {
  it('counts as forged without the token of the session', async () => {
    const { access, enter } = start();
    const [visit, other] = [
      await access.identify(await enter('tina')),
      await access.identify(await enter('tina')),
    ];
    if (!visit || !other) throw new Error('nobody is signed in');
    expect(access.isForged(visit, visit.csrfToken)).toBe(false);
    for (const token of [undefined, '', other.csrfToken, `${visit.csrfToken}x`, 'ñ'.repeat(43)])
      expect(access.isForged(visit, token)).toBe(true);
  });
});

describe('single sign-on', () => {
  const nameHeader = 'X-Forwarded-User';
  const singleSignOn = { nameHeader, proxies: ['127.0.0.1', '10.0.3.0/24', '2001:db8::/32'] };
  const header = { 'x-forwarded-user': 'SSO@example.com' };

  it.each(['::ffff:127.0.0.1', '10.0.3.200', '2001:db8:7::1'])(
    'believes the header from %s',
    async (address) => {
      const { access, request } = start(singleSignOn);
      const visit = await access.identify(request(header, address));
      expect(visit).toMatchObject({
        visitor: { name: 'sso@example.com', role: 'team' },
        signedInBy: 'proxy',
        csrfToken: expect.stringMatching(/^[\w-]{43}$/),
      });
      expect(visit && access.isForged(visit, visit.csrfToken)).toBe(false);
      expect(visit && access.isForged(visit, undefined)).toBe(true);
    },
  );

  it('believes it only from the proxy itself, whoever a passed-on address names', async () => {
    const { access, request } = start(singleSignOn);
    const passedOn = (entry: string, from: string) =>
      access.identify(request({ ...header, 'x-forwarded-for': entry }, from));
    expect(await passedOn('203.0.113.7', '10.0.3.9')).toMatchObject({ signedInBy: 'proxy' });
    for (const stranger of ['203.0.113.7', '127.0.0.2', '10.0.4.1', '::1', ''])
      expect(await passedOn('127.0.0.1', stranger)).toBeUndefined();
    // Nor from anybody where it is not configured.
    expect(await start().access.identify(request(header))).toBeUndefined();
  });

  it.each(['nobody', 'sso@example.com, ada', ''])(
    'does not let in %j, who is not in the file',
    async (name) => {
      const { access, request } = start(singleSignOn);
      expect(await access.identify(request({ 'x-forwarded-user': name }))).toBeUndefined();
    },
  );
});

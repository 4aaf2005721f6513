import { describe, expect, it } from 'vitest';
import { createAccess } from '../../../src/desk/access/access.js';
import type { Sender } from '../../../src/desk/access/caller.js';
import type { User, Users } from '../../../src/storage/access/users-file.js';
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
  const request = (headers: Sender['headers'] = {}, ip = '127.0.0.1'): Sender => ({
    headers: { ...local, ...headers },
    ip,
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
    /** As often from this address, with a wrong password. */
    fail: async (times: number, name: string, from = request()) => {
      for (let guess = 0; guess < times; guess += 1) await signIn(name, 'wrong', from);
    },
  };
}

describe('signing in', () => {
  it.each([
    ['localhost:8080', undefined, '', ''],
    ['review.example.com', undefined, '__Host-', '; Secure'],
    ['localhost:8443', 'https://localhost:8443', '__Host-', '; Secure'],
  ])(
    'under %s, published as %s, sets cookies of this host only, for TLS unless it is this machine',
    async (host, publicUrl, prefix, end) => {
      const { access, signIn, request } = start(publicUrl === undefined ? {} : { publicUrl });
      const attributes = `Path=/; HttpOnly; SameSite=Lax${end}`;
      const answer = await signIn('tina', password, request({ host }));
      const cookies = [
        `^${prefix}hotel-review=[\\w-]+\\.[\\w-]+; ${attributes}$`,
        `^${prefix}hotel-review-browser=[\\w-]+\\.[\\w-]+; Max-Age=7776000; ${attributes}$`,
      ].map((form) => expect.stringMatching(new RegExp(form)));
      expect(answer).toMatchObject({ cookies });
      const session = 'cookies' in answer ? answer.cookies?.[0]?.split(';')[0] : '';
      const isKnownAs = (cookie = '') => access.identify(request({ host, cookie }));
      expect(await isKnownAs(session)).toBeDefined();
      if (prefix) expect(await isKnownAs(session?.replace(prefix, ''))).toBeUndefined();
    },
  );

  it('fails with a wrong password, and names only a user who is known', async () => {
    const { signIn } = start();
    const wrong = { kind: 'wrong', address: '127.0.0.1' };
    expect(await signIn('tina', 'four random words there')).toEqual({ ...wrong, knownName: 'tina' });
    expect(await signIn('four random words here')).toEqual(wrong);
    // Without a password in the file, none is right.
    expect(await signIn('sso@example.com', '')).toMatchObject({ kind: 'wrong' });
  });

  it('from one address is slowed down after five failures, even with the right password', async () => {
    const { signIn, fail, request, pass } = start({ proxies: ['127.0.0.1'] });
    // As the proxy appends them.
    const [guesser, other] = ['203.0.113.7', '203.0.113.8'].map((one) => request({ 'x-forwarded-for': one }));
    await fail(3, 'ada', guesser);
    await fail(2, 'oskar', guesser);
    const slowed = { kind: 'slowed', retryAfterSeconds: 1, address: '203.0.113.7' };
    expect(await signIn('tina', password, guesser)).toEqual(slowed);
    expect(await signIn('tina', password, other)).toMatchObject({ kind: 'signed-in' });
    pass(1);
    expect(await signIn('tina', password, guesser)).toMatchObject({ kind: 'signed-in' });
    // Whoever knows one password could otherwise guess others.
    await fail(1, 'ada', guesser);
    expect(await signIn('tina', password, guesser)).toMatchObject({ kind: 'slowed', retryAfterSeconds: 2 });
  });

  it.each([
    ['no proxy is known', [], { 'x-forwarded-for': '203.0.113.7' }],
    ['the proxy does not say who asked it', ['127.0.0.1'], {}],
  ])('is slowed down by name only where %s: others may share the address', async (_, proxies, headers) => {
    const { signIn, fail, request } = start({ proxies });
    const from = request(headers);
    for (const name of ['ada', 'oskar']) await fail(3, name, from);
    expect(await signIn('tina', password, from)).toMatchObject({ kind: 'signed-in' });
    await fail(5, 'vera', from);
    expect(await signIn('vera', password, from)).toMatchObject({ kind: 'slowed' });
  });

  it('for one name, known or not, is slowed down after five failures from anywhere', async () => {
    const { signIn, fail, request } = start();
    const elsewhere = request({}, '198.51.100.9');
    for (const name of ['tina', 'nobody']) {
      for (let last = 1; last <= 5; last += 1) await fail(1, name, request({}, `203.0.113.${last}`));
      expect(await signIn(name, password, elsewhere)).toMatchObject({ kind: 'slowed' });
    }
    expect(await signIn('vera', password, elsewhere)).toMatchObject({ kind: 'signed-in' });
  });

  it('for one name is not slowed down by failures before its last success', async () => {
    const { signIn, fail } = start();
    for (const failures of [4, 1]) {
      await fail(failures, 'tina');
      expect(await signIn('tina')).toMatchObject({ kind: 'signed-in' });
    }
  });

  it('in a browser that signed in before is not kept from it by guesses of others, and gains none itself', async () => {
    const { signIn, fail, request, enter } = start();
    const cookie = (await enter('tina')).headers.cookie?.split('; ')[1] ?? '';
    const known = request({ cookie });
    await fail(12, 'tina');
    expect(await signIn('tina', password, known)).toMatchObject({ kind: 'signed-in' });
    expect(await signIn('tina')).toMatchObject({ kind: 'slowed' });
    await fail(5, 'tina', known);
    expect(await signIn('tina', password, known)).toMatchObject({ kind: 'slowed' });
    const forged = [cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')), cookie.split('.')[0], ''];
    for (const other of forged)
      expect(await signIn('tina', password, request({ cookie: other }))).toMatchObject({ kind: 'slowed' });
    await fail(5, 'vera', known);
    expect(await signIn('vera', password, known)).toMatchObject({ kind: 'slowed' });
  });

  it('goes first in such a browser during a flood of guesses, which are slowed down and gain nothing', async () => {
    const { signIn, request, enter } = start();
    const { cookie } = (await enter('tina')).headers;
    const ended: string[] = [];
    const flood = Array.from({ length: 40 }, async () => {
      const { kind } = await signIn('oskar', 'wrong');
      ended.push(kind);
    });
    expect(await signIn('vera')).toMatchObject({ kind: 'slowed' });
    expect(await signIn('tina', password, request({ cookie }))).toMatchObject({ kind: 'signed-in' });
    const before = ended.filter((kind) => kind === 'wrong').length;
    await Promise.all(flood);
    const guesses = ended.filter((kind) => kind === 'wrong').length;
    expect(before).toBeLessThan(guesses);
    expect(guesses).toBeLessThanOrEqual(6);
    expect(ended.filter((kind) => kind === 'slowed')).toHaveLength(40 - guesses);
  });
});

describe('a session', () => {
  it('is kept alive by activity, with a new cookie now and then, but not by a page that looks again by itself', async () => {
    const { access, enter, pass, request } = start();
    let browser = await enter('tina');
    for (let half = 0; half < 3; half += 1) {
      pass(29);
      const script = { ...browser, headers: { ...browser.headers, 'sec-fetch-dest': 'empty' } };
      expect(await access.identify(script)).not.toHaveProperty('setCookie');
      const visit = await access.identify(browser);
      expect(visit?.setCookie).toMatch(/^hotel-review=/);
      browser = request({ cookie: visit?.setCookie?.split(';')[0] });
      expect(await access.identify(browser)).not.toHaveProperty('setCookie');
    }
    pass(30);
    expect(await access.identify(browser)).toBeUndefined();
  });

  it('ends after twelve hours, however active it was', async () => {
    const { access, enter, pass, request } = start();
    let browser = await enter('tina');
    for (let minutes = 20; minutes < 12 * 60; minutes += 20) {
      pass(20);
      const visit = await access.identify(browser);
      expect(visit?.visitor.name).toBe('tina');
      browser = request({ cookie: visit?.setCookie?.split(';')[0] });
    }
    pass(20);
    expect(await access.identify(browser)).toBeUndefined();
  });

  it('ends on signing out, with every cookie it ever had', async () => {
    const { access, enter, pass, request } = start();
    const [browser, other] = [await enter('tina'), await enter('tina')];
    pass(2);
    const renewed = request({ cookie: (await access.identify(browser))?.setCookie?.split(';')[0] });
    expect(await access.signOut(renewed)).toBe('hotel-review=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax');
    expect(await access.identify(renewed)).toBeUndefined();
    expect(await access.identify(browser)).toBeUndefined();
    expect(await access.identify(other)).toBeDefined();
    await access.signOut(other);
    for (const one of [other, browser, renewed]) expect(await access.identify(one)).toBeUndefined();
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

describe('single sign-on', () => {
  const nameHeader = 'X-Forwarded-User';
  const singleSignOn = { nameHeader, proxies: ['127.0.0.1', '10.0.3.0/24', '2001:db8::/32'] };
  const header = { 'x-forwarded-user': 'SSO@example.com' };

  it('believes the header only from the proxy itself, whoever a passed-on address names', async () => {
    const { access, request } = start(singleSignOn);
    for (const proxy of ['::ffff:127.0.0.1', '10.0.3.200', '2001:db8:7::1']) {
      const visit = await access.identify(request({ ...header, 'x-forwarded-for': '203.0.113.7' }, proxy));
      expect(visit).toMatchObject({
        ...{ visitor: { name: 'sso@example.com', role: 'team' }, signedInBy: 'proxy' },
        csrfToken: expect.stringMatching(/^[\w-]{43}$/),
      });
    }
    for (const stranger of ['203.0.113.7', '127.0.0.2', '10.0.4.1', '::1', ''])
      expect(
        await access.identify(request({ ...header, 'x-forwarded-for': '127.0.0.1' }, stranger)),
      ).toBeUndefined();
    // Nor from anybody where it is not configured.
    expect(await start().access.identify(request(header))).toBeUndefined();
    // Nor somebody who is not in the file.
    for (const name of ['nobody', 'sso@example.com, ada', ''])
      expect(await access.identify(request({ 'x-forwarded-user': name }))).toBeUndefined();
  });
});

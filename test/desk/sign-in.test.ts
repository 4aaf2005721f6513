import { afterEach, describe, expect, it } from 'vitest';
import { createAccess } from '../../src/desk/access/access.js';
import { readReturnPath } from '../../src/desk/sign-in.js';
import { type Users, UsersFileError } from '../../src/storage/access/users-file.js';
import { password, someUsers } from '../access/some-users.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { openSocket, readToEnd } from '../server/some-server.js';
import { now, startDesk, stopServers } from './some-desk.js';

afterEach(stopServers);

interface Start {
  /** Or why they can't be read. */
  readonly users?: Users | Error;
  readonly isLocal?: boolean;
  readonly publicUrl?: string;
  readonly proxies?: readonly string[];
}

async function start({ users = someUsers(), isLocal = true, ...others }: Start = {}) {
  const access = createAccess({
    users: {
      async read() {
        if (users instanceof Error) throw users;
        return users;
      },
    },
    isLocal,
    ...others,
    idleMs: 60_000,
    clock: () => now,
  });
  const { url, recorded, logged } = await startDesk({
    ledger: await openTemporaryLedger(() => now),
    access,
    hosts: ['review.example.com'],
  });
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, {
      redirect: 'manual',
      ...init,
      headers: { accept: 'text/html', ...init.headers },
    });
    const { status, headers } = response;
    return { status, headers, location: headers.get('location'), text: await response.text() };
  };
  /** From a page of this server, unless the headers say otherwise. */
  const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    ask(path, { method: 'POST', body: new URLSearchParams(fields), headers: { origin: url, ...headers } });
  /** With each header as it is, also Host; from nowhere in particular. */
  async function sendRaw(fields: Record<string, string>, headers: Record<string, string>) {
    const socket = await openSocket(url);
    const body = new URLSearchParams(fields).toString();
    const type = 'content-type: application/x-www-form-urlencoded\r\naccept: text/html';
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(
      `POST /sign-in HTTP/1.1\r\n${lines.join('')}${type}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const text = await readToEnd(socket);
    const cookies = [...text.matchAll(/^set-cookie: (.*)\r$/gm)].map(([, cookie]) => cookie);
    return { status: Number(text.slice(9, 12)), cookies, text };
  }
  return {
    url,
    ask,
    send,
    sendRaw,
    recorded,
    logged,
    /** The cookie of somebody's session. */
    async enter(name: string): Promise<string> {
      const { headers } = await send('/sign-in', { name, password });
      return headers.get('set-cookie')?.split(';')[0] ?? '';
    },
  };
}

describe('signing in', () => {
  it('leads from a page to the form, and back to that page, and is recorded', async () => {
    const { ask, send, recorded } = await start();
    const { status, location } = await ask('/days/2026-11-20?a=b');
    expect([status, location]).toEqual([303, '/sign-in?to=%2Fdays%2F2026-11-20%3Fa%3Db']);
    const form = await ask(location ?? '');
    expect(form.status).toBe(200);
    expect(form.text).toContain('<input type="hidden" name="to" value="/days/2026-11-20?a=b">');
    expect(form.text).toContain('autocomplete="current-password"');
    const done = await send('/sign-in', { name: 'Tina', password, to: '/days/2026-11-20?a=b' });
    expect([done.status, done.location]).toEqual([303, '/days/2026-11-20?a=b']);
    expect(done.headers.get('set-cookie')).toMatch(/^hotel-review=.*HttpOnly; SameSite=Lax$/);
    expect(recorded).toEqual([{ action: 'sign-in', at: now, who: 'tina (desk)' }]);
    const cookie = done.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await ask('/days/2026-11-20', { headers: { cookie } })).text).toContain('tina, team');
    expect((await ask('/sign-in?to=/runs', { headers: { cookie } })).location).toBe('/runs');
  });

  it('works for programs too', async () => {
    const { send } = await start();
    const json = { accept: 'application/json' };
    const done = await send('/sign-in', { name: 'ada', password }, json);
    expect([done.status, done.headers.get('set-cookie')]).toEqual([
      303,
      expect.stringMatching(/^hotel-review=/),
    ]);
    const failed = await send('/sign-in', { name: 'ada', password: 'wrong' }, json);
    expect([failed.status, JSON.parse(failed.text).error.class]).toEqual([401, 'unauthenticated']);
  });

  it('does not reveal who is known when it fails, and records only known names', async () => {
    const { send, recorded } = await start();
    const texts = new Set<string>();
    for (const name of ['tina', 'nobody']) {
      const failed = await send('/sign-in', { name, password: 'wrong', to: '/cases' });
      expect(failed.status).toBe(401);
      expect(failed.headers.get('set-cookie')).not.toMatch(/hotel-review=/);
      expect(failed.text).toContain('value="/cases"');
      texts.add(failed.text.replaceAll(name, 'NAME').replace(/name="token" value="[\w-]+"/, 'TOKEN'));
    }
    expect(texts.size).toBe(1);
    expect(recorded.map(({ action, who, details }) => [action, who, details])).toEqual([
      ['sign-in-failed', 'serve', { name: 'tina' }],
      ['sign-in-failed', 'serve', { name: undefined }],
    ]);
  });

  it('never echoes the password, and escapes the name', async () => {
    const { send } = await start();
    const { text } = await send('/sign-in', { name: '"><script>', password: 'my secret words' });
    expect(text).not.toContain('my secret words');
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;"');
  });

  it('is refused from another site, and over plain http from another machine', async () => {
    const { send, recorded } = await start();
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'http://127.0.0.1:1' },
      { origin: 'http://review.example.com' },
      { origin: 'null' },
    ])
      expect((await send('/sign-in', { name: 'tina', password }, headers)).status).toBe(403);
    expect(recorded).toEqual([]);
    expect((await send('/sign-in', { name: 'tina', password })).status).toBe(303);
  });

  it('is slowed down for who guesses behind a proxy, and for nobody else', async () => {
    const { send, logged } = await start({ proxies: ['127.0.0.1'] });
    const from = (address: string, name: string, word = 'wrong') =>
      send('/sign-in', { name, password: word }, { 'x-forwarded-for': `198.51.100.9, ${address}` });
    for (let guess = 0; guess < 5; guess += 1) await from('203.0.113.7', `somebody-${guess}`);
    const slowed = await from('203.0.113.7', 'tina', password);
    expect([slowed.status, slowed.headers.get('retry-after')]).toEqual([429, '1']);
    expect(slowed.text).toContain('try again in 1 second.');
    expect((await from('203.0.113.8', 'tina', password)).status).toBe(303);
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      ...Array.from({ length: 5 }, () => ({ status: 401, caller: '203.0.113.7' })),
      { status: 429, caller: '203.0.113.7' },
    ]);
  });

  it('accepts nothing but forms, GET and POST', async () => {
    const { ask } = await start();
    const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    expect((await ask('/sign-in', json)).status).toBe(415);
    expect((await ask('/sign-in', { method: 'DELETE' })).status).toBe(405);
    expect((await ask('/sign-out')).status).toBe(405);
  });

  it('needs the token of the form where a browser does not say where a form is from', async () => {
    const { url, ask, sendRaw } = await start();
    const { headers, text } = await ask('/sign-in');
    const [cookie = ''] = headers.get('set-cookie')?.split(';') ?? [];
    const [, token = ''] = /name="token" value="([\w-]+)"/.exec(text) ?? [];
    const { host } = new URL(url);
    const fields = { name: 'tina', password };
    for (const [sent, more] of [
      [fields, {}],
      [fields, { cookie }],
      [{ ...fields, token }, {}],
      [{ ...fields, token }, { cookie: cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) }],
      [{ ...fields, token: `${token}x` }, { cookie }],
      [
        { ...fields, token },
        { cookie, origin: 'https://evil.example' },
      ],
    ] as const)
      expect((await sendRaw(sent, { host, ...more })).status).toBe(403);
    for (const more of [{}, { origin: 'null' }]) {
      const done = await sendRaw({ ...fields, token }, { host, cookie, ...more });
      expect([done.status, done.cookies.length]).toEqual([303, 2]);
      expect(done.cookies[1]).toContain(`${cookie}.`);
    }
  });

  it('under an https address is refused where the proxy passes on another Host, and says what it needs', async () => {
    const publicUrl = 'https://review.example.com';
    const { ask, sendRaw, recorded } = await start({ publicUrl });
    const fields = { name: 'tina', password };
    const refused = await sendRaw(fields, { host: '127.0.0.1:8080', origin: publicUrl });
    expect([refused.status, refused.cookies]).toEqual([403, []]);
    const said = 'must pass on the header Host as the browser sent it (review.example.com)';
    for (const text of [refused.text, (await ask('/sign-in')).text]) expect(text).toContain(said);
    expect(recorded).toEqual([]);
    const done = await sendRaw(fields, { host: 'review.example.com', origin: publicUrl });
    expect(done.status).toBe(303);
    for (const cookie of done.cookies)
      expect(cookie).toMatch(/^__Host-hotel-review.*; SameSite=Lax; Secure$/);
  });
});

describe('without users', () => {
  const none = { ...someUsers(), users: [] };

  it('everybody on this machine may look, and reads how to add a user', async () => {
    const { ask } = await start({ users: none });
    const { status, text } = await ask('/days/2026-11-20');
    expect(status).toBe(200);
    expect(text).toContain('user add NAME --role');
    expect((await ask('/sign-in?to=/cases')).location).toBe('/cases');
  });

  it('a visitor from another machine may not look, and reads how to add a user', async () => {
    const { ask, url } = await start({ users: none, isLocal: false });
    for (const path of ['/', '/days/2026-11-20', '/sign-in']) {
      const { status, text } = await ask(path);
      expect([path, status]).toEqual([path, 403]);
      expect(text).toContain('user add NAME --role admin');
    }
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect((await fetch(url + path)).status).toBe(200);
  });
});

describe('signing out', () => {
  it('ends the session, and is recorded', async () => {
    const { ask, send, enter, recorded } = await start();
    const cookie = await enter('tina');
    const { text } = await ask('/days/2026-11-20', { headers: { cookie } });
    const token = /name="token" value="([\w-]+)"/.exec(text)?.[1] ?? '';
    expect((await send('/sign-out', { token: 'forged' }, { cookie })).status).toBe(403);
    const done = await send('/sign-out', { token }, { cookie });
    expect([done.status, done.location]).toEqual([303, '/sign-in']);
    expect(done.headers.get('set-cookie')).toMatch(/^hotel-review=; Max-Age=0;/);
    expect(recorded.at(-1)).toEqual({ action: 'sign-out', at: now, who: 'tina (desk)' });
    expect((await ask('/days/2026-11-20', { headers: { cookie } })).status).toBe(303);
    expect((await send('/sign-out', { token }, { cookie })).location).toBe('/sign-in');
  });
});

describe('an error page', () => {
  it('keeps the menu of somebody who is signed in', async () => {
    const { ask, enter } = await start();
    const headers = { cookie: await enter('tina') };
    for (const path of ['/nothing', '/days/yesterday', '/audit', '/sign-out']) {
      const { status, text } = await ask(path, { headers });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(text).toContain('aria-label="Areas"');
      expect(text).toContain('tina, team');
    }
  });

  it('has no menu for strangers, nor for anybody under the name of another host', async () => {
    const { url, ask } = await start({ users: { ...someUsers(), users: [] } });
    expect((await ask('/nothing')).text).toContain('aria-label="Areas"');
    const socket = await openSocket(url);
    const head = 'host: rebound.example.com\r\naccept: text/html\r\nconnection: close';
    socket.write(`GET /nothing HTTP/1.1\r\n${head}\r\n\r\n`);
    const refused = await readToEnd(socket);
    expect(refused).toContain('this host name is not allowed here');
    expect(refused).not.toContain('aria-label="Areas"');
    const { text } = await (await start()).ask('/nothing');
    expect(text).toContain('there is nothing at this path');
    expect(text).not.toContain('aria-label="Areas"');
  });

  it("is shown even if the users' file is damaged", async () => {
    const { ask } = await start({ users: new UsersFileError('the file is damaged') });
    for (const [path, expected] of [
      ['/nothing', 404],
      ['/days/2026-11-20', 500],
    ] as const) {
      const { status, text } = await ask(path);
      expect([path, status]).toEqual([path, expected]);
      expect(text).toMatch(/<h1>.*<a href="\/">To the days<\/a>/s);
      const [style = ''] = /\/assets\/desk-\w+\.css/.exec(text) ?? [];
      expect((await ask(style)).status).toBe(200);
    }
  });
});

describe('the page to continue at', () => {
  it.each(['/', '/cases?state=open&text=a%20b', '/days/2026-11-20'])('may be %s', (path) => {
    expect(readReturnPath(path)).toBe(path);
  });

  it.each([
    undefined,
    '',
    'https://evil.test/',
    '//evil.test/',
    '/\\evil.test/',
    '/\t/evil.test/',
    '/..//evil.test/',
    '/x/..//evil.test',
    'javascript:alert(1)',
    '/sign-in?to=/cases',
    `/${'x'.repeat(2_000)}`,
  ])('is the first one rather than %s', (path) => {
    expect(readReturnPath(path)).toBe('/');
  });
});

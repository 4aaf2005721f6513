import { describe, expect, it } from 'vitest';
import { createAccess } from '../../src/desk/access/access.js';
import { readReturnPath } from '../../src/desk/sign-in.js';
import { type Users, UsersFileError } from '../../src/storage/access/users-file.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { password, someUsers } from './access/some-users.js';
import { openSocket, readToEnd } from './server/some-server.js';
import { now, startDesk } from './some-desk.js';

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
  const ledger = await openTemporaryLedger(() => now);
  const { url, recorded, logged } = await startDesk({ ledger, access, hosts: ['review.example.com'] });
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
    return { status: Number(text.slice(9, 12)), text };
  }
  return {
    ...{ url, ask, send, sendRaw, recorded, logged },
    /** The cookie of somebody's session. */
    async enter(name: string): Promise<string> {
      const { headers } = await send('/sign-in', { name, password });
      return headers.get('set-cookie')?.split(';')[0] ?? '';
    },
  };
}

describe('signing in', () => {
  it('leads from a page to the form, and back to that page, for people and programs, and is recorded', async () => {
    const { ask, send, recorded } = await start();
    const { status, location } = await ask('/days/2026-11-20?a=b');
    expect([status, location]).toEqual([303, '/sign-in?to=%2Fdays%2F2026-11-20%3Fa%3Db']);
    const form = await ask(location ?? '');
    expect(form.text).toContain('<input type="hidden" name="to" value="/days/2026-11-20?a=b">');
    expect(form.text).toContain('autocomplete="username" autocapitalize="none"');
    expect(form.text).toMatch(/name="name"[^>]* autofocus>.*autocomplete="current-password"/s);
    const done = await send('/sign-in', { name: 'Tina', password, to: '/days/2026-11-20?a=b' });
    expect([done.status, done.location]).toEqual([303, '/days/2026-11-20?a=b']);
    expect(recorded).toEqual([{ action: 'sign-in', at: now, who: 'tina (desk)' }]);
    const cookie = done.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await ask('/days/2026-11-20', { headers: { cookie } })).text).toContain('tina, team');
    expect((await ask('/sign-in?to=/runs', { headers: { cookie } })).location).toBe('/runs');
    const json = { accept: 'application/json' };
    expect((await send('/sign-in', { name: 'ada', password }, json)).status).toBe(303);
    const failed = await send('/sign-in', { name: 'ada', password: 'wrong' }, json);
    expect([failed.status, JSON.parse(failed.text).error.class]).toEqual([401, 'unauthenticated']);
  });

  it('does not reveal who is known when it fails, echoes no password, and records only known names', async () => {
    const { send, recorded } = await start();
    const texts = new Set<string>();
    for (const [name, shown] of [
      ['tina', 'tina'],
      ['"><script>', '&quot;&gt;&lt;script&gt;'],
    ] as const) {
      const failed = await send('/sign-in', { name, password: 'my secret words', to: '/cases' });
      expect([failed.status, failed.headers.get('set-cookie')]).toEqual([
        401,
        expect.not.stringMatching(/hotel-review=/),
      ]);
      expect(failed.text).not.toContain('my secret words');
      expect(failed.text).toMatch(/name="name"[^>]* required>.*name="password"[^>]* autofocus>/s);
      for (const kept of ['/cases', shown]) expect(failed.text).toContain(`value="${kept}"`);
      texts.add(failed.text.replaceAll(shown, 'NAME').replace(/name="token" value="[\w-]+"/, 'TOKEN'));
    }
    expect(texts.size).toBe(1);
    expect(recorded.map(({ action, who, details }) => [action, who, details])).toEqual([
      ['sign-in-failed', 'serve', { name: 'tina' }],
      ['sign-in-failed', 'serve', { name: undefined }],
    ]);
  });

  it('is refused from another site, over plain http from another machine, and but for a form', async () => {
    const { ask, send, recorded } = await start();
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'http://review.example.com' },
    ])
      expect((await send('/sign-in', { name: 'tina', password }, headers)).status).toBe(403);
    const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    expect((await ask('/sign-in', json)).status).toBe(415);
    expect((await ask('/sign-in', { method: 'DELETE' })).status).toBe(405);
    expect((await ask('/sign-out')).status).toBe(405);
    expect(recorded).toEqual([]);
  });

  it('is slowed down for who guesses behind a proxy, and for nobody else', async () => {
    const { send, logged } = await start({ proxies: ['127.0.0.1'] });
    const from = (address: string, name: string, word = 'wrong') =>
      send('/sign-in', { name, password: word }, { 'x-forwarded-for': `198.51.100.9, ${address}` });
    for (const name of ['ada', 'oskar', 'vera', 'ada', 'oskar']) await from('203.0.113.7', name);
    const slowed = await from('203.0.113.7', 'tina', password);
    expect([slowed.status, slowed.headers.get('retry-after')]).toEqual([429, '1']);
    expect(slowed.text).toContain('try again in 1 second.');
    expect((await from('203.0.113.8', 'tina', password)).status).toBe(303);
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      ...Array.from({ length: 5 }, () => ({ status: 401, caller: '203.0.113.7' })),
      { status: 429, caller: '203.0.113.7' },
    ]);
  });

  it('needs the token of the form where a browser does not say where a form is from', async () => {
    const { url, ask, sendRaw } = await start();
    const { headers, text } = await ask('/sign-in');
    const [cookie = ''] = headers.get('set-cookie')?.split(';') ?? [];
    const [, token = ''] = /name="token" value="([\w-]+)"/.exec(text) ?? [];
    const { host } = new URL(url);
    const fields = { name: 'tina', password };
    const other = cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    for (const [sent, more] of [
      [fields, { cookie }],
      [{ ...fields, token }, {}],
      [{ ...fields, token }, { cookie: other }],
      [{ ...fields, token: `${token}x` }, { cookie }],
      [
        { ...fields, token },
        { cookie, origin: 'https://evil.example' },
      ],
    ] as const)
      expect((await sendRaw(sent, { host, ...more })).status).toBe(403);
    for (const more of [{}, { origin: 'null' }]) {
      const done = await sendRaw({ ...fields, token }, { host, cookie, ...more });
      expect(done.status).toBe(303);
      // The browser stays the one that it was.
      expect(done.text).toContain(`set-cookie: ${cookie}.`);
    }
  });

  it('under an https address is refused where the proxy passes on another Host, and says what it needs', async () => {
    const publicUrl = 'https://review.example.com';
    const { ask, sendRaw, recorded } = await start({ publicUrl });
    const fields = { name: 'tina', password };
    const refused = await sendRaw(fields, { host: '127.0.0.1:8080', origin: publicUrl });
    expect([refused.status, recorded]).toEqual([403, []]);
    const said = 'must pass on the header Host as the browser sent it (review.example.com)';
    for (const text of [refused.text, (await ask('/sign-in')).text]) expect(text).toContain(said);
    const done = await sendRaw(fields, { host: 'review.example.com', origin: publicUrl });
    expect([done.status, done.text.match(/^set-cookie: __Host-/gm)?.length]).toEqual([303, 2]);
  });
});

describe('without users', () => {
  const none = { ...someUsers(), users: [] };

  it('everybody on this machine may look, change nothing, and reads how to add a user', async () => {
    const { ask, send } = await start({ users: none });
    expect((await send('/sign-out', { token: '' })).status).toBe(403);
    expect((await send('/sign-in', { name: 'anybody', password })).status).toBe(401);
    const { status, text } = await ask('/days/2026-11-20');
    expect([status, text]).toEqual([200, expect.stringContaining('user add NAME --role')]);
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

it('Signing out ends the session, and is recorded', async () => {
  const { ask, send, enter, recorded } = await start();
  const tokenOf = async (headers: { readonly cookie: string }) =>
    /name="token" value="([\w-]+)"/.exec((await ask('/days/2026-11-20', { headers })).text)?.[1] ?? '';
  const [cookie, another] = [await enter('tina'), await enter('tina')];
  const token = await tokenOf({ cookie });
  for (const forged of ['forged', await tokenOf({ cookie: another })])
    expect((await send('/sign-out', { token: forged }, { cookie })).status).toBe(403);
  const done = await send('/sign-out', { token }, { cookie });
  expect([done.status, done.location]).toEqual([303, '/sign-in']);
  expect(done.headers.get('set-cookie')).toMatch(/^hotel-review=; Max-Age=0;/);
  expect(recorded.at(-1)).toEqual({ action: 'sign-out', at: now, who: 'tina (desk)' });
  expect((await ask('/days/2026-11-20', { headers: { cookie } })).status).toBe(303);
  expect((await send('/sign-out', { token }, { cookie })).location).toBe('/sign-in');
});

describe('an error page', () => {
  it('has a menu for somebody who is signed in, not for strangers, nor for anybody under the name of another host', async () => {
    const menu = 'aria-label="Areas"';
    const { ask, enter } = await start();
    const headers = { cookie: await enter('tina') };
    for (const path of ['/nothing', '/days/yesterday', '/audit', '/sign-out']) {
      const { status, text } = await ask(path, { headers });
      expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => code >= 400)]);
      for (const shown of [menu, 'tina, team']) expect(text).toContain(shown);
    }
    expect((await ask('/nothing')).text).not.toContain(menu);
    const open = await start({ users: { ...someUsers(), users: [] } });
    expect((await open.ask('/nothing')).text).toContain(menu);
    const refused = await open.sendRaw({}, { host: 'rebound.example.com' });
    expect(refused.text).toContain('this host name is not allowed here');
    expect(refused.text).not.toContain(menu);
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

it('Whoever signs in continues at a page of ours, the first one if in doubt', () => {
  for (const path of ['/', '/cases?state=open&text=a%20b', '/days/2026-11-20'])
    expect(readReturnPath(path)).toBe(path);
  for (const path of [
    ...[undefined, '', 'https://evil.test/', '//evil.test/', '/\\evil.test/', '/\t/evil.test/'],
    ...['/..//evil.test/', '/x/..//evil.test', 'javascript:alert(1)', '/sign-in?to=/cases'],
    `/${'x'.repeat(2_000)}`,
  ])
    expect([path, readReturnPath(path)]).toEqual([path, '/']);
});

import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type DayFolder, prepareDay, type Settings } from '../support/day-folder.js';
import { startStandIn } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

const password = 'four random words here';
const other = 'other random words here';

async function prepare(settings: Settings = { server: { users: './users.json' } }): Promise<DayFolder> {
  const { folder } = await prepareDay({ bookings: toCsv(makeBookings(3)), settings, hasWorkers: false });
  return folder;
}

const add = (folder: DayFolder, name: string, role: string, input = password) =>
  folder.run(['user', 'add', name, '--role', role], { input: `${input}\n` });

describe('user add', () => {
  it('reads the password from standard input, and keeps its hash in a file for its owner only', async () => {
    const folder = await prepare();
    const { exitCode, stdout } = await add(folder, 'Ana', 'team');
    expect([exitCode, stdout]).toEqual([0, 'ana is added as team. `serve` knows at the next request.\n']);
    const path = join(folder.path, 'users.json');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const text = await readFile(path, 'utf8');
    expect(JSON.parse(text)).toEqual({
      key: expect.stringMatching(/^.{43}=$/),
      users: [{ name: 'ana', role: 'team', password: expect.stringMatching(/^\$scrypt\$/) }],
    });
    expect(text).not.toContain(password);
  });

  it('changes the role and the password of somebody who is known', async () => {
    const folder = await prepare();
    await add(folder, 'ana', 'team');
    const before = await readFile(join(folder.path, 'users.json'), 'utf8');
    const { stdout } = await add(folder, 'ana', 'admin', other);
    expect(stdout).toContain('ana is now admin, and earlier sessions have ended');
    const after = await readFile(join(folder.path, 'users.json'), 'utf8');
    expect(JSON.parse(after).key).toBe(JSON.parse(before).key);
    expect(JSON.parse(after).users).toHaveLength(1);
    expect(JSON.parse(after).users[0].password).not.toBe(JSON.parse(before).users[0].password);
  });

  it.each([
    ['ana', 'short', 'the password has 5 characters; it needs at least 12'],
    ['ana-of-the-night', 'Ana-of-the-Night', 'the password is the name; nothing was changed'],
    ['ana', '', 'the password has 0 characters'],
    ['ana', `${password}\n${other}`, 'one line of standard input, got: several'],
    ['ana lopez', password, 'a name consists of'],
  ])('refuses %j with the password %j', async (name, given, message) => {
    const folder = await prepare();
    const { exitCode, stderr } = await add(folder, name, 'team', given);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    await expect(stat(join(folder.path, 'users.json'))).rejects.toThrow('ENOENT');
  });

  it('needs no password for somebody who signs in at a proxy, and warns if there is no proxy', async () => {
    const folder = await prepare();
    const args = ['user', 'add', 'eva', '--role', 'viewer', '--without-password'];
    expect((await folder.run(args)).stderr).toContain('server.signIn is not set');
    await folder.configure({ server: { signIn: { header: 'x-forwarded-user' }, proxies: ['127.0.0.1'] } });
    expect((await folder.run(args)).stderr).toBe('');
    expect((await folder.run(['user', 'list', '--json'])).json).toEqual({
      users: [{ name: 'eva', role: 'viewer', hasPassword: false }],
    });
  });

  it('says which line the configuration lacks', async () => {
    const folder = await prepare({});
    for (const args of [
      ['user', 'list'],
      ['user', 'remove', 'ana'],
      ['user', 'add', 'ana', '--role', 'team'],
    ]) {
      const { exitCode, stderr } = await folder.run(args, { input: password });
      expect(exitCode).toBe(2);
      expect(stderr).toContain('write `users: ./users.json` below `server:` in the configuration');
    }
  });
});

describe('the users', () => {
  it('are listed by name, and removed', async () => {
    const folder = await prepare();
    expect((await folder.run(['user', 'list'])).stdout).toContain('user add NAME --role admin');
    await add(folder, 'vera', 'viewer');
    await add(folder, 'ana', 'admin');
    expect((await folder.run(['user', 'list'])).stdout).toMatch(
      /^2 users\n.*\n +ana +admin +with a password\n +vera +viewer +with a password\n$/,
    );
    expect((await folder.run(['user', 'remove', 'VERA'])).exitCode).toBe(0);
    const unknown = await folder.run(['user', 'remove', 'vera']);
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('there is no user of that name'),
    ]);
    expect((await folder.run(['user', 'remove', 'ana'])).stdout).toContain('Nobody is left');
  });

  it('are in the audit trail once there is a ledger', async () => {
    const folder = await prepare();
    await add(folder, 'ana', 'admin');
    await folder.runDay();
    await add(folder, 'vera', 'viewer');
    await folder.run(['user', 'remove', 'vera']);
    const { json } = await folder.run(['audit', '--json']);
    const { entries } = json as { entries: readonly { action: string }[] };
    expect(entries.filter(({ action }) => action.startsWith('user-'))).toMatchObject([
      { who: 'tester', action: 'user-add', details: { name: 'vera', role: 'viewer' } },
      { who: 'tester', action: 'user-remove', details: { name: 'vera' } },
    ]);
  });
});

describe('serve', () => {
  const settings = { server: { users: './users.json' }, schedule: { catchUpDays: 0, cron: '0 0 1 1 *' } };

  async function serve(folder: DayFolder) {
    const serving = folder.call(['serve', '--port', '0']);
    await serving.wrote('"serving"');
    const [, url = ''] = /"url":"([^"]+)"/.exec(serving.stderr) ?? [];
    const ask = (path: string, cookie = '') =>
      fetch(url + path, { headers: { accept: 'text/html', cookie }, redirect: 'manual' });
    return {
      url,
      ask,
      async enter(name: string, word: string) {
        const body = new URLSearchParams({ name, password: word });
        const answer = await fetch(`${url}/sign-in`, {
          method: 'POST',
          redirect: 'manual',
          headers: { origin: url },
          body,
        });
        return { status: answer.status, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
      },
      async stop() {
        serving.stop('SIGTERM');
        return serving.ended;
      },
    };
  }

  it('knows users as soon as they are added, changed or removed', async () => {
    const folder = await prepare(settings);
    const { ask, enter, stop } = await serve(folder);
    expect((await ask('/')).status).toBe(200);
    await add(folder, 'ana', 'team');
    expect((await ask('/')).headers.get('location')).toBe('/sign-in?to=%2F');
    expect((await enter('ana', other)).status).toBe(401);
    const { cookie } = await enter('ana', password);
    expect(await (await ask('/', cookie)).text()).toContain('ana, team');
    await add(folder, 'ana', 'viewer', other);
    expect((await ask('/', cookie)).status).toBe(303);
    const again = await enter('ana', other);
    expect(await (await ask('/', again.cookie)).text()).toContain('ana, viewer');
    await folder.run(['user', 'remove', 'ana']);
    await add(folder, 'vera', 'viewer');
    expect((await ask('/', again.cookie)).status).toBe(303);
    const { stderr } = await stop();
    for (const secret of [password, other, cookie.split('=')[1]]) expect(stderr).not.toContain(secret);
    const { json } = await folder.run(['audit', '--json']);
    expect((json as { entries: unknown[] }).entries).toMatchObject([
      { who: 'tester', action: 'user-add' },
      { who: 'serve', action: 'sign-in-failed', details: { name: 'ana' } },
      { who: 'ana (desk)', action: 'sign-in' },
      { who: 'tester', action: 'user-add', details: { name: 'ana', role: 'viewer' } },
      { who: 'ana (desk)', action: 'sign-in' },
      { who: 'tester', action: 'user-remove' },
      { who: 'tester', action: 'user-add' },
    ]);
  });

  it('takes nobody for a user of this machine who may have come through a proxy', async () => {
    const folder = await prepare();
    for (const server of [{ proxies: ['127.0.0.1'] }, { publicUrl: 'https://review.example.com' }]) {
      await folder.configure({ ...settings, server });
      const { ask, stop } = await serve(folder);
      expect((await ask('/')).status).toBe(403);
      await stop();
    }
  });

  it('answers under the host of its public address without a list of hosts, and under no other', async () => {
    const publicUrl = 'https://review.example.com:8443';
    const folder = await prepare({ ...settings, server: { publicUrl } });
    const { url, stop } = await serve(folder);
    for (const [host, status] of [
      ['review.example.com', 200],
      ['review.example.com:8443', 200],
      ['evil.example', 421],
    ] as const) {
      const [answer] = await once(request(`${url}/metrics`, { headers: { host } }).end(), 'response');
      expect([host, answer.resume().statusCode]).toEqual([host, status]);
    }
    await stop();
  });

  it('does not start over a damaged file, and says which', async () => {
    const folder = await prepare({ ...settings, server: { users: './bookings-2026-11-20.csv' } });
    const { exitCode, stderr } = await folder.run(['serve', '--port', '0']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/the users' file .*bookings-2026-11-20\.csv is not JSON/);
  });

  it('says what to do about a port in use, and nothing else', async () => {
    const folder = await prepare(settings);
    const { port, close } = await startStandIn(() => ({ kind: 'text', body: 'OK' }));
    onTestFinished(close);
    const { exitCode, stderr } = await folder.run(['serve', '--port', `${port}`]);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      `hotel-review: listen EADDRINUSE: address already in use 127.0.0.1:${port}; choose another --port, or another server.host in the configuration\n`,
    );
  });
});

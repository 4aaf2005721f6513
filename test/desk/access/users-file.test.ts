import { chown, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { may, permissions, roles } from '../../../src/storage/access/roles.js';
import { openUsersFile, readUserName, UsersFileError } from '../../../src/storage/access/users-file.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { passwordHash, someUsers } from './some-users.js';

let folder = '';
let path = '';
beforeEach(() => {
  folder = makeTemporaryFolder();
  path = join(folder, 'users.json');
});

describe("the users' file", () => {
  it('keeps users, their key and its owner, for that one only, and leaves no other file beside it', async () => {
    const users = someUsers();
    openUsersFile(path).replace(users);
    expect(await openUsersFile(path).read()).toEqual(users);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['users.json']);
    // After sudo, too, the account that runs `serve` can read it.
    if (process.getuid?.() !== 0) return;
    await chown(path, 65_534, 65_534);
    openUsersFile(path).replace(users);
    expect(await stat(path)).toMatchObject({ uid: 65_534, gid: 65_534 });
  });

  it('is read again when it has changed, even in place', async () => {
    const users = someUsers();
    const file = openUsersFile(path);
    file.replace(users);
    const first = await file.read();
    expect(await file.read()).toBe(first);
    openUsersFile(path).replace({ ...users, users: [] });
    expect((await file.read())?.users).toEqual([]);
    await writeFile(path, (await readFile(path, 'utf8')).replace('[]', '[{"name":"eva","role":"viewer"}]'));
    expect((await file.read())?.users).toEqual([{ name: 'eva', role: 'viewer' }]);
    await rm(path);
    expect(await file.read()).toBeUndefined();
  });

  const key = Buffer.alloc(32, 7).toString('base64');
  const user = { name: 'ana', role: 'team', password: passwordHash };
  it.each([
    ['no JSON', '{"key": "secret', 'is not JSON'],
    ['a short key', { key: 'AAAA', users: [] }, 'key: '],
    ['an unknown role', { key, users: [{ ...user, role: 'root' }] }, 'users.0.role: '],
    ['an unknown member', { key, users: [{ ...user, admin: true }] }, 'users.0: '],
    [
      'a password in plain text',
      { key, users: [{ ...user, password: 'four random words' }] },
      'users.0.password: ',
    ],
    ['a name in capitals', { key, users: [{ ...user, name: 'Ana' }] }, 'users.0.name: '],
    ['a name twice', { key, users: [user, user] }, 'users: expected each name once'],
  ])('with %s is refused, without quoting it', async (_fault, content, message) => {
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    const reading = openUsersFile(path).read();
    await expect(reading).rejects.toThrow(UsersFileError);
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.toThrow(/^(?!.*(?:four random words|secret|root)).*$/);
  });
});

it('the name of a user is in small letters, and has no space or accent', () => {
  for (const written of ['Ana', 'ana@Example.com', 'auth0|5f7c'])
    expect(readUserName(written)).toBe(written.toLowerCase());
  for (const wrong of ['', 'a b', 'a, b', 'josé', 'a\n', 'x'.repeat(101)])
    expect(readUserName(wrong)).toBeUndefined();
});

it('each role may do only what it says', () => {
  const granted = roles.map((role) => [role, ...permissions.filter((permission) => may(role, permission))]);
  expect(granted).toEqual([
    ['viewer', 'look'],
    ['team', 'look', 'see-bookings', 'see-names', 'work-cases'],
    ['operator', 'look', 'see-bookings', 'operate'],
    ['admin', 'look', 'see-bookings', 'see-names', 'work-cases', 'operate', 'see-audit'],
  ]);
});

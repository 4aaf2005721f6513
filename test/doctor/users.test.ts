import { expect, it } from 'vitest';
import { checkUsers } from '../../src/checks/doctor/users.js';
import { createUsers, type User, UsersFileError } from '../../src/storage/access/users-file.js';
import { passwordHash } from '../access/some-users.js';

const path = '/config/users.json';
const holding = (...users: readonly User[]) => ({ path, read: async () => ({ ...createUsers(), users }) });
const local = { host: '127.0.0.1' };
const open = { host: '0.0.0.0' };
const ana: User = { name: 'ana', role: 'admin', password: passwordHash };

it('doctor is silent about users where only this machine can look and none are configured', async () => {
  expect(await checkUsers(local, undefined)).toEqual([]);
});

it('doctor warns that pages are refused elsewhere without users, and says how to add one', async () => {
  for (const file of [undefined, holding(), { path, read: async () => undefined }]) {
    const [finding, ...more] = await checkUsers(open, file);
    expect(more).toEqual([]);
    expect(finding).toMatchObject({
      part: 'users',
      verdict: 'warning',
      message: expect.stringContaining('are refused, because server.host is 0.0.0.0'),
      advice: expect.stringContaining('hotel-review user add NAME --role admin'),
    });
  }
  expect(await checkUsers(local, holding())).toMatchObject([
    { verdict: 'warning', message: `${path} holds nobody: the pages of serve are read-only` },
  ]);
});

it('doctor warns where nobody may operate', async () => {
  expect(await checkUsers(open, holding({ ...ana, role: 'team' }))).toMatchObject([
    { verdict: 'warning', message: expect.stringContaining('no user may start or cancel runs') },
  ]);
  expect(await checkUsers(open, holding(ana, { ...ana, name: 'ben', role: 'operator' }))).toEqual([
    {
      part: 'users',
      verdict: 'ok',
      message: `${path}: 2 users, of whom 2 may start and cancel runs`,
    },
  ]);
});

it('doctor warns of users without a password where there is no single sign-on', async () => {
  const eva: User = { name: 'eva', role: 'viewer' };
  const verdicts = async (settings: Parameters<typeof checkUsers>[0]) =>
    (await checkUsers(settings, holding(ana, eva))).map(({ verdict }) => verdict);
  expect(await verdicts(open)).toEqual(['ok', 'warning']);
  expect(await verdicts({ ...open, signIn: { header: 'x-user' } })).toEqual(['ok']);
});

it('doctor calls a damaged file wrong', async () => {
  const read = async () => {
    throw new UsersFileError('it is damaged');
  };
  expect(await checkUsers(local, { path, read })).toEqual([
    { part: 'users', verdict: 'wrong', message: 'it is damaged', advice: 'serve does not start with it.' },
  ]);
});

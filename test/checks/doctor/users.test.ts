import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { users } from '../../../src/checks/doctor/users.js';
import { createUsers, type User } from '../../../src/storage/access/users-file.js';
import { passwordHash } from '../../desk/access/some-users.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { lines, look, makeApp } from './checked.js';

const ana: User = { name: 'ana', role: 'admin', password: passwordHash };
const eva: User = { name: 'eva', role: 'viewer' };

/** What doctor says of these users, or of a file with this text. */
async function say(content: readonly User[] | string, server: object = {}) {
  const path = join(makeTemporaryFolder(), 'users.json');
  const { key } = createUsers();
  const text =
    typeof content === 'string' ? content : JSON.stringify({ key: key.toString('base64'), users: content });
  writeFileSync(path, text, { mode: 0o600 });
  const found = lines(await look(users, makeApp({ server: { ...server, users: path } })));
  return found.map((line) => line.replace(path, 'FILE'));
}

it('doctor warns where nobody may sign in, or nobody may operate', async () => {
  expect(await say([])).toEqual([
    'warning users: FILE holds nobody: nobody can sign in at the pages of serve',
  ]);
  expect(await say([{ ...ana, role: 'team' }])).toEqual([
    'warning users: FILE: no user may start or cancel runs on the pages of serve',
  ]);
  expect(await say([ana, { ...ana, name: 'ben', role: 'operator' }])).toEqual([
    'ok users: FILE: 2 users, of whom 2 may start and cancel runs',
  ]);
});

it('doctor warns of users without a password where there is no single sign-on', async () => {
  expect(await say([ana, eva])).toContain("warning users: eva has no password, and can't sign in");
  expect(await say([ana, eva], { signIn: { header: 'x-user' }, proxies: ['127.0.0.1'] })).toHaveLength(1);
});

it('doctor says what is wrong with a damaged file, as the file itself says it', async () => {
  expect(await say('{}')).toEqual([expect.stringMatching(/^wrong users: .*FILE/)]);
});

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fileModes } from '../../../src/checks/doctor/file-modes.js';
import { hostKey, sftp } from '../../config/writing.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { look, makeApp } from './checked.js';

const fine = ['no file with secrets or names is open to others'];

/** What doctor says of a folder with a file of these modes. */
async function say(folderMode: number, mode: number, settings: (path: string) => object) {
  const folder = makeTemporaryFolder();
  const path = join(folder, 'file');
  writeFileSync(path, '');
  chmodSync(path, mode);
  chmodSync(folder, folderMode);
  const app = makeApp(settings(path), { file: join(folder, 'hotel-review.yaml') });
  const found = await look(fileModes, app);
  return found.map(({ message }) => message.replaceAll(folder, 'FOLDER'));
}

it.each([0o604, 0o640, 0o622])('what only its owner may read is a warning with mode %i', async (mode) => {
  const said = (holds: string) => [
    `FOLDER/file holds ${holds} and is open to others (mode ${mode.toString(8)})`,
  ];
  const users = 'the key of sessions and hashes of passwords';
  expect(await say(0o755, mode, (path) => ({ server: { users: path } }))).toEqual(said(users));
  expect(await say(0o755, mode, (path) => ({ ledger: `sqlite:${path}` }))).toEqual(said("guests' names"));
  const account = { username: 'u', hostKey };
  const key = (privateKeyFile: string) => ({
    source: { kind: 'csv', path: 'sftp://h/{day}', sftp: { ...account, privateKeyFile } },
  });
  expect(await say(0o755, mode, key)).toEqual(said('a private key'));
  expect(await say(0o755, mode & 0o600, (path) => ({ ledger: `sqlite:${path}` }))).toEqual(fine);
});

it('what holds a secret is among them: the configuration, .env and folders', async () => {
  const folder = makeTemporaryFolder();
  const path = (name: string) => join(folder, name);
  const files = ['hotel-review.yaml', '.env', 'key', 'key-of-source'];
  for (const name of files) writeFileSync(path(name), '');
  for (const name of ['archive', 'spool', "it's keys"]) mkdirSync(path(name));
  for (const name of [...files, 'archive', 'spool', "it's keys"]) chmodSync(path(name), 0o750);
  const { password: _, ...account } = sftp;
  const withKey = (name: string) => ({ ...account, privateKeyFile: path(name) });
  const { host, ...ofSource } = withKey('key-of-source');
  const settings = {
    ...{ archive: path('archive'), keys: path("it's keys") },
    file: { spool: path('spool'), sftp: withKey('key') },
    source: { kind: 'csv', path: `sftp://${host}/{day}.csv`, sftp: ofSource },
  };
  const found = await look(fileModes, makeApp(settings, { file: path('hotel-review.yaml') }));
  expect(found.map(({ advice }) => advice)).toEqual([
    ...[...files, 'archive', 'spool'].map((name) => `chmod go= ${path(name)}`),
    `chmod go= '${path("it's keys").replace("'", "'\\''")}'`,
  ]);
});

const csv = (path: string) => ({ source: { kind: 'csv', path } });
const module = (path: string) => ({ source: { kind: 'module', path } });

it.each<[number, number, (path: string) => object, string[]]>([
  [0o755, 0o640, csv, fine],
  [0o770, 0o644, csv, fine],
  [0o700, 0o666, csv, fine],
  [0o755, 0o644, module, fine],
  [0o755, 0o644, csv, ["FOLDER/file holds guests' names and is open to others (mode 644)"]],
  [0o755, 0o662, module, ['FOLDER/file holds the code that reads bookings and is open to others (mode 662)']],
  [0o777, 0o600, csv, ['FOLDER holds the source and is open to others (mode 777)']],
])(
  'what others write is a warning if everybody can read or change it: %o/%o',
  async (...[folder, mode, of, said]) => {
    expect(await say(folder, mode, of)).toEqual(said);
  },
);

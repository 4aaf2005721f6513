import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkFileModes, listClosedFiles } from '../../src/doctor/file-modes.js';
import { parse, service, source } from '../config/writing.js';
import { makeTemporaryFolder } from './temporary-folder.js';

function makeFile(name: string, mode: number) {
  const path = join(makeTemporaryFolder(), name);
  writeFileSync(path, '');
  chmodSync(path, mode);
  return { path, holds: 'a secret' };
}

it.each([0o604, 0o640, 0o622])(
  'warns about a file with mode %i, and says how to restrict it',
  async (mode) => {
    const files = [makeFile('hotel-review.yaml', mode), makeFile('closed', 0o600)];
    expect(await checkFileModes(files, 'linux')).toEqual([
      {
        part: 'file-modes',
        verdict: 'warning',
        message: `${files[0]?.path} holds a secret and is open to others (mode ${mode.toString(8)})`,
        advice: `chmod 600 ${files[0]?.path}`,
      },
    ]);
  },
);

it('accepts restricted files, and missing files', async () => {
  const folder = makeTemporaryFolder();
  mkdirSync(join(folder, 'data'));
  const files = [makeFile('closed', 0o400), { path: join(folder, 'data', 'none'), holds: 'nothing' }];
  expect(await checkFileModes(files, 'linux')).toEqual([
    expect.objectContaining({ part: 'file-modes', verdict: 'ok' }),
  ]);
});

it('reports a folder in place of such a file as wrong, and does not advise to restrict it', async () => {
  const path = join(makeTemporaryFolder(), '.env');
  mkdirSync(path);
  expect(await checkFileModes([{ path, holds: 'secrets' }], 'linux')).toEqual([
    {
      part: 'file-modes',
      verdict: 'wrong',
      message: `${path} is a folder, expected a file that holds secrets`,
    },
  ]);
});

it('checks none on Windows', async () => {
  const findings = await checkFileModes([makeFile('open', 0o644)], 'win32');
  expect(findings).toEqual([expect.objectContaining({ verdict: 'ok' })]);
});

it('counts the file of users among them', () => {
  const config = parse({ service, source, server: { users: './users.json' } });
  expect(listClosedFiles('/etc/agency/hotel-review.yaml', config)).toContainEqual({
    path: '/etc/agency/users.json',
    holds: 'the key of sessions and hashes of passwords',
  });
});

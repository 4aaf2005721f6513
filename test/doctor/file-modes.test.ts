import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { checkFileModes, listClosedFiles, listSourceFiles } from '../../src/checks/doctor/file-modes.js';
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

describe('the files of the source', () => {
  /** In the folder for temporary files, which everybody may enter. */
  function makeSource(folderMode: number, mode: number, holds: 'bookings' | 'code' = 'bookings') {
    const folder = makeTemporaryFolder();
    const path = join(folder, 'bookings.csv');
    writeFileSync(path, '');
    chmodSync(path, mode);
    chmodSync(folder, folderMode);
    return { folder, file: { path, holds } };
  }
  const look = async (...made: Parameters<typeof makeSource>) => {
    const { folder, file } = makeSource(...made);
    const found = await checkFileModes([], 'linux', [file]);
    return found.map(({ verdict, message }) => `${verdict}: ${message.replaceAll(folder, 'FOLDER')}`);
  };
  const fine = ['ok: no file with secrets or names is open to others'];

  it.each<[number, number, 'bookings' | 'code', string[]]>([
    [0o755, 0o640, 'bookings', fine],
    [0o770, 0o644, 'bookings', fine],
    [0o700, 0o666, 'bookings', fine],
    [0o755, 0o644, 'code', fine],
    [
      0o755,
      0o644,
      'bookings',
      [
        "warning: FOLDER/bookings.csv holds guests' names, and everybody on this machine can read it (mode 644)",
      ],
    ],
    [
      0o755,
      0o662,
      'code',
      ['warning: everybody on this machine can change FOLDER/bookings.csv, which is the source (mode 662)'],
    ],
    [
      0o777,
      0o600,
      'bookings',
      ['warning: everybody on this machine can write to FOLDER, where the source is (mode 777)'],
    ],
  ])(
    'are a warning if everybody can read or change them: %o/%o %s',
    async (folderMode, mode, holds, expected) => {
      expect(await look(folderMode, mode, holds)).toEqual(expected);
    },
  );

  it('are those of the day on this machine', () => {
    const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
    const listed = (settings: object) =>
      listSourceFiles(parse({ service, source: { ...source, ...settings } }), day).map(({ path }) => path);
    expect(listed({ path: '/exports/{day}.csv' })).toEqual(['/exports/2026-11-20.csv']);
    expect(listed({ path: 's3://bucket/{day}.csv' })).toEqual([]);
  });
});

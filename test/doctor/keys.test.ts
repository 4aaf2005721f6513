import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkKeys } from '../../src/checks/doctor/keys.js';
import { createKeyFolder } from '../../src/storage/key-folder.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'doctor-keys-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const check = (root: string, queue: 'in-process' | 'redis' = 'in-process') =>
  checkKeys(
    createKeyFolder(root),
    {
      ledger: { kind: 'sqlite', path: join(home, 'data', 'ledger.db') },
      archive: { kind: 'directory', path: join(home, 'kept') },
      queue: queue === 'redis' ? { kind: 'redis', url: 'redis://localhost' } : { kind: 'in-process' },
    },
    'linux',
  );
const makeKey = (root: string) => createKeyFolder(root).use('2026-11-20');

it('doctor says where keys are, and makes none', async () => {
  const root = join(home, 'keys');
  expect(await check(root)).toEqual([{ part: 'keys', verdict: 'ok', message: `${root} will be created` }]);
  makeKey(root);
  expect(await check(root)).toEqual([
    { part: 'keys', verdict: 'ok', message: `${root}: 1 day key, all usable` },
  ]);
});

it.each(['data/keys', 'data', 'kept/a/keys', 'linked'])('doctor warns about keys in %s', async (place) => {
  mkdirSync(join(home, 'data', 'inner'), { recursive: true });
  symlinkSync(join(home, 'data', 'inner'), join(home, 'linked'));
  expect(await check(join(home, place))).toContainEqual(
    expect.objectContaining({
      verdict: 'warning',
      message: expect.stringMatching(/ lies in .*: a copy or a backup of it would hold the keys too$/),
    }),
  );
});

it('doctor warns about keys that others can read, or that other machines lack', async () => {
  const root = join(home, 'keys');
  makeKey(root);
  chmodSync(root, 0o755);
  expect(await check(root, 'redis')).toMatchObject([
    { verdict: 'ok' },
    { verdict: 'warning', message: `${root} holds keys and is open to others`, advice: `chmod 700 ${root}` },
    { verdict: 'warning', message: expect.stringContaining('is a folder on one machine') },
  ]);
});

it('doctor says which key is damaged', async () => {
  const root = join(home, 'keys');
  makeKey(root);
  const path = join(root, '2026-11-20.key');
  writeFileSync(path, '');
  expect(await check(root)).toMatchObject([
    { verdict: 'wrong', message: expect.stringContaining(`${path} is damaged`) },
  ]);
});

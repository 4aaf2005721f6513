import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keys } from '../../../src/checks/doctor/keys.js';
import { createKeyFolder } from '../../../src/storage/day-keys.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { lines, look, makeApp } from './checked.js';

function check(home: string, root: string) {
  const places = { ledger: `sqlite:${home}/data/ledger.db`, archive: join(home, 'kept') };
  return look(keys, makeApp({ ...places, keys: root }, { keys: () => createKeyFolder(root) }));
}
const makeKey = (root: string) => createKeyFolder(root).use('2026-11-20');

it('doctor says whether keys can be used, which is damaged, and makes none', async () => {
  const home = makeTemporaryFolder();
  const root = join(home, 'keys');
  expect(lines(await check(home, root))).toEqual([`ok keys: ${root}: no key yet`]);
  makeKey(root);
  expect(lines(await check(home, root))).toEqual([`ok keys: ${root}: 1 day key, all usable`]);
  writeFileSync(join(root, '2026-11-20.key'), '');
  expect(lines(await check(home, root))).toEqual([
    expect.stringContaining(`wrong keys: ${join(root, '2026-11-20.key')} is damaged`),
  ]);
});

it.each(['data/keys', 'data', 'kept/a/keys', 'linked'])('doctor warns about keys in %s', async (place) => {
  const home = makeTemporaryFolder();
  mkdirSync(join(home, 'data', 'inner'), { recursive: true });
  symlinkSync(join(home, 'data', 'inner'), join(home, 'linked'));
  expect(lines(await check(home, join(home, place)))).toContainEqual(
    expect.stringMatching(/^warning keys: .* lies in .*: a copy or a backup of it would hold the keys too$/),
  );
});

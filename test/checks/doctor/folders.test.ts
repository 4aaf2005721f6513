import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { disk, writtenFolders } from '../../../src/checks/doctor/folders.js';
import { withoutPrivileges } from '../../support/machine.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { lines, look, makeApp } from './checked.js';

const everyIn = (folder: string) => ({
  ledger: `sqlite:${join(folder, 'data', 'ledger.db')}`,
  archive: join(folder, 'archive'),
  file: { spool: folder },
  keys: join(folder, 'keys'),
  mappings: { newHotels: join(folder, 'new.ndjson') },
});

it('all that is written to is tried, and nothing is created or left', async () => {
  const folder = makeTemporaryFolder();
  expect(lines(await look(writtenFolders, makeApp(everyIn(folder))))).toEqual([
    `ok ledger: ${join(folder, 'data')} does not exist yet and will be created`,
    `ok archive: ${join(folder, 'archive')} does not exist yet and will be created`,
    `ok spool: ${folder} can be written to`,
    `ok keys: ${join(folder, 'keys')} does not exist yet and will be created`,
    `ok mappings: ${folder} can be written to`,
  ]);
  expect(readdirSync(folder)).toEqual([]);
});

it('a folder that cannot be written to or created is wrong', async () => {
  const folder = makeTemporaryFolder();
  chmodSync(folder, 0o555);
  const found = await withoutPrivileges(() => look(writtenFolders, makeApp(everyIn(folder))));
  expect(found).toHaveLength(5);
  for (const { verdict, message } of found)
    expect([verdict, message]).toEqual(['wrong', expect.stringMatching(/cannot be written to: EACCES/)]);
});

it('a file in the way is wrong', async () => {
  const folder = makeTemporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  const found = await look(
    writtenFolders,
    makeApp({ ...everyIn(folder), archive: join(folder, 'file/archive') }),
  );
  expect(lines(found)).toContainEqual(
    expect.stringMatching(/^wrong archive: .* cannot be written to: ENOTDIR/),
  );
});

it('a disk is reported once for everything on it, even if nothing exists yet', async () => {
  const found = await look(disk, makeApp(everyIn(makeTemporaryFolder())));
  expect(lines(found)).toEqual([
    expect.stringMatching(/^\w+ disk: [\d.]+ [GM]iB free for ledger, archive, spool, keys, mappings \(/),
  ]);
});

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, expect, it } from 'vitest';
import { disk, writtenFolders } from '../../../src/checks/doctor/folders.js';
import { openLedgerFile } from '../../../src/ledger/sqlite/ledger-file.js';
import { createDirectoryArchive } from '../../../src/storage/archive.js';
import { mountSmallDisk, smallDiskNeeds } from '../../support/machine.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { lines, look, makeApp } from './checked.js';

const mebibyte = 1_024;
const gibibyte = 1_024 * mebibyte;

beforeEach(({ skip }) => skip(smallDiskNeeds !== undefined, smallDiskNeeds));

it('each disk is reported with its free space', async () => {
  const folder = makeTemporaryFolder();
  const sizes = { roomy: 2 * gibibyte, scarce: 500 * mebibyte, full: 99 * mebibyte };
  for (const [name, size] of Object.entries(sizes)) {
    mkdirSync(join(folder, name));
    mountSmallDisk(join(folder, name), size);
  }
  const [roomy, scarce, full] = ['roomy', 'scarce', 'full'].map((name) => join(folder, name));
  const settings = { ledger: `sqlite:${roomy}/data/ledger.db`, archive: scarce, file: { spool: full } };
  expect(lines(await look(disk, makeApp(settings)))).toEqual([
    `ok disk: 2.0 GiB free for ledger (${roomy})`,
    `warning disk: 500 MiB free for archive (${scarce})`,
    `wrong disk: 99 MiB free for spool (${full})`,
  ]);
});

/** What doctor says where the archive is on a small disk. */
async function say(path: string) {
  const app = makeApp({
    archive: path,
    ledger: `sqlite:${makeTemporaryFolder()}/ledger.db`,
    file: { spool: path },
  });
  return lines([...(await look(writtenFolders, app)), ...(await look(disk, app))]);
}

it('a full disk is wrong, and nothing is left on it', async () => {
  const path = makeTemporaryFolder();
  mountSmallDisk(path, 16);
  expect(() => writeFileSync(join(path, 'filling'), Buffer.alloc(100_000))).toThrow(/ENOSPC/);
  expect(await say(path)).toContainEqual(expect.stringMatching(/^wrong archive: .*ENOSPC/));
  expect(readdirSync(path)).toEqual(['filling']);
});

it('a disk that has space, but no free inodes, is named as such, whatever is written', async () => {
  const path = makeTemporaryFolder();
  mountSmallDisk(path, gibibyte, 0, 4);
  for (const name of ['a', 'b', 'c']) writeFileSync(join(path, name), '');
  const words = /no free inodes/;
  const found = await say(path);
  for (const part of ['archive', 'spool', 'disk'])
    expect(found).toContainEqual(expect.stringMatching(new RegExp(`^wrong ${part}: .*no free inodes`)));
  expect(() => openLedgerFile(join(path, 'ledger.db'), { isReader: false })).toThrow(words);
  const archive = createDirectoryArchive({ root: path, account: 'a' });
  await expect(archive.store('2026-11-20', 'run', 'file.csv', Readable.from(['x']))).rejects.toThrow(words);
});

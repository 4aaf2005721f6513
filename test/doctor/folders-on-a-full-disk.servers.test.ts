import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { checkDisk, checkStoreFolder } from '../../src/checks/doctor/folders.js';
import { openLedgerFile } from '../../src/ledger/sqlite/ledger-file.js';
import { createDirectoryArchive } from '../../src/storage/archive.js';
import { mountSmallDisk, smallDiskNeeds } from '../support/machine.js';
import { makeTemporaryFolder } from './temporary-folder.js';

const mebibyte = 1_024;
const gibibyte = 1_024 * mebibyte;

describe('the disk', () => {
  it('is reported for each file system, with its free space', async ({ skip }) => {
    skip(smallDiskNeeds !== undefined, smallDiskNeeds);
    const folder = makeTemporaryFolder();
    const [roomy, scarce, full] = ['roomy', 'scarce', 'full'].map((name) => join(folder, name));
    if (roomy === undefined || scarce === undefined || full === undefined) throw new Error('no folders');
    for (const path of [roomy, scarce, full]) mkdirSync(path);
    mountSmallDisk(roomy, 2 * gibibyte);
    mountSmallDisk(scarce, 500 * mebibyte);
    mountSmallDisk(full, 99 * mebibyte);
    const findings = await checkDisk([
      { name: 'ledger', path: join(roomy, 'data') },
      { name: 'archive', path: scarce },
      { name: 'spool', path: full },
    ]);
    expect(findings.map(({ verdict, message }) => [verdict, message])).toEqual([
      ['ok', `2.0 GiB free for ledger (${roomy})`],
      ['warning', `500 MiB free for archive (${scarce})`],
      ['wrong', `99 MiB free for spool (${full})`],
    ]);
  });
});

describe('the folder of the archive or the spool, on a full disk', () => {
  it('is wrong', async ({ skip }) => {
    skip(smallDiskNeeds !== undefined, smallDiskNeeds);
    const path = makeTemporaryFolder();
    mountSmallDisk(path, 16);
    expect(() => writeFileSync(join(path, 'filling'), Buffer.alloc(100_000))).toThrow(/ENOSPC/);
    expect((await checkStoreFolder({ part: 'archive', path }, 'linux'))[0]).toMatchObject({
      verdict: 'wrong',
      message: expect.stringMatching(/ENOSPC/),
    });
    expect(readdirSync(path)).toEqual(['filling']);
  });
});

it('a disk that has space, but no free inodes, is named as such, whatever is written', async ({ skip }) => {
  skip(smallDiskNeeds !== undefined, smallDiskNeeds);
  const path = makeTemporaryFolder();
  mountSmallDisk(path, gibibyte, 0, 4);
  for (const name of ['a', 'b', 'c']) writeFileSync(join(path, name), '');
  const words = /no free inodes/;
  expect(await checkDisk([{ name: 'spool', path }])).toMatchObject([
    { verdict: 'wrong', message: expect.stringMatching(words) },
  ]);
  expect(await checkStoreFolder({ part: 'archive', path }, 'linux')).toMatchObject([
    { verdict: 'wrong', message: expect.stringMatching(words) },
  ]);
  expect(() => openLedgerFile(join(path, 'ledger.db'), { isReader: false })).toThrow(words);
  const archive = createDirectoryArchive({ root: path, account: 'a' });
  await expect(archive.store('2026-11-20', 'run', 'file.csv', Readable.from(['x']))).rejects.toThrow(words);
});

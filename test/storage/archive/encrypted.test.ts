import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createDirectoryArchive, encryptArchive, toBlocks } from '../../../src/storage/archive.js';
import { createKeyFolder } from '../../../src/storage/day-keys.js';
import { describeArchiveContract } from '../../contracts/archive.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

async function create() {
  const folder = makeTemporaryFolder();
  const open = (account: string) => createDirectoryArchive({ root: join(folder, 'archive'), account });
  const plain = open('an-account');
  const keys = createKeyFolder(join(folder, 'keys'));
  const encrypts = (day: string, name: string) => day !== 'reports' && name !== 'manifest.json';
  return {
    plain,
    archive: encryptArchive(plain, keys, encrypts),
    ofOtherAccount: encryptArchive(open('other-account'), keys, encrypts),
  };
}

describeArchiveContract('an encrypted directory archive', { create });

it('an encrypted archive holds no name, leaves manifests readable, and reads what was kept before', async () => {
  const { archive, plain } = await create();
  const day = '2026-11-20';
  const run = '20261120-aaaa';
  await plain.store(day, run, 'before.csv', toBlocks('Ana Gil'));
  for (const name of ['20112026.csv', 'manifest.json'])
    await archive.store(day, run, name, toBlocks('Ana Gil'));
  const stored = (name: string) => readFile(join(plain.locate(day, run), name), 'latin1');
  expect(await stored('20112026.csv')).not.toContain('Ana Gil');
  expect(await stored('manifest.json')).toBe('Ana Gil');
  for (const name of ['before.csv', '20112026.csv', 'manifest.json']) {
    const blocks: Uint8Array[] = [];
    for await (const block of archive.read(day, run, name)) blocks.push(Buffer.from(block));
    expect(Buffer.concat(blocks).toString()).toBe('Ana Gil');
  }
});

it.each([
  ['20261120-bbbb', '20112026.csv'],
  ['20261120-aaaa', 'other.csv'],
])('an encrypted archive refuses a file that was moved to %s/%s', async (run, name) => {
  const { archive, plain } = await create();
  const day = '2026-11-20';
  await archive.store(day, '20261120-aaaa', '20112026.csv', toBlocks('Ana Gil'));
  const moved = join(plain.locate(day, run), name);
  await cp(join(plain.locate(day, '20261120-aaaa'), '20112026.csv'), moved);
  await expect(archive.read(day, run, name)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    name: 'KeyError',
    code: 'damaged',
  });
});

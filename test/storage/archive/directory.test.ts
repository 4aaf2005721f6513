import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDirectoryArchive, toBlocks } from '../../../src/storage/archive.js';
import { describeArchiveContract } from '../../contracts/archive.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

const day = '2026-11-20';
const run = '20261120-aaaa';
const guest = 'Ann Guest-Canary';
const mark = '.account-an-account';

describeArchiveContract('the directory archive', {
  async create() {
    const root = join(makeTemporaryFolder(), 'archive');
    const open = (account: string) => createDirectoryArchive({ root, account });
    return { archive: open('an-account'), ofOtherAccount: open('other-account') };
  },
});

describe('the directory archive', () => {
  let root = '';
  beforeEach(() => {
    root = join(makeTemporaryFolder(), 'data', 'archive');
  });

  const folder = () => join(root, day, run);
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

  it('creates files and folders for their owner only, whatever the umask', async () => {
    const before = process.umask(0);
    try {
      await createDirectoryArchive({ root, account: 'an-account' }).store(
        day,
        run,
        'file.csv',
        toBlocks('x'),
      );
    } finally {
      process.umask(before);
    }
    expect(await modeOf(join(folder(), 'file.csv'))).toBe('600');
    for (const path of [join(root, '..'), root, join(root, day), folder()])
      expect(await modeOf(path)).toBe('700');
  });

  it('leaves no temporary file, whether it kept a file or not', async () => {
    const archive = createDirectoryArchive({ root, account: 'an-account' });
    await archive.store(day, run, 'file.csv', toBlocks('x'));
    await archive.store(day, run, 'file.csv', toBlocks('x'));
    await expect(archive.store(day, run, 'file.csv', toBlocks('y'))).rejects.toMatchObject({
      code: 'different-content',
    });
    await expect(archive.store(day, run, 'other.csv', broken())).rejects.toThrow('broken');
    expect(await readdir(folder())).toEqual([mark, 'file.csv']);
  });

  it.each(['store', 'remove'] as const)('cleans up after a killed process, on the next %s', async (next) => {
    const archive = createDirectoryArchive({ root, account: 'an-account' });
    const other = createDirectoryArchive({ root, account: 'an-account' });
    let left: readonly string[] = [];
    async function* content() {
      // Only large blocks are written before the end.
      yield Buffer.alloc(1_000_000, guest);
      left = (await readdir(folder())).filter((name) => name !== mark);
      expect(await other.list(day, run)).toEqual([]);
      expect(await readFile(join(folder(), String(left[0])), 'utf8')).toContain(guest);
      if (next === 'store') await other.store(day, run, 'other.csv', toBlocks('x'));
      else await other.remove(day, run, []);
    }
    // It was not killed, and keeps nothing of what others have removed.
    await expect(archive.store(day, run, 'file.csv', content())).rejects.toMatchObject({
      code: 'unwritable',
    });
    expect(left).toHaveLength(1);
    expect(await readdir(folder())).toEqual(next === 'store' ? [mark, 'other.csv'] : [mark]);
  });

  it('leaves foreign files alone, and lists no hidden file', async () => {
    await mkdir(folder(), { recursive: true });
    for (const name of ['.DS_Store', 'note.partial', '.partial-note'])
      await writeFile(join(folder(), name), 'x');
    await mkdir(join(folder(), 'a folder'));
    const archive = createDirectoryArchive({ root, account: 'an-account' });
    await archive.store(day, run, 'file.csv', toBlocks('x'));
    expect(await archive.list(day, run)).toEqual(['file.csv', 'note.partial']);
    expect((await readdir(folder())).sort()).toEqual([
      '.DS_Store',
      mark,
      '.partial-note',
      'a folder',
      'file.csv',
      'note.partial',
    ]);
  });

  it('says what it can’t write or read', async () => {
    await mkdir(join(root, '..'), { recursive: true });
    await writeFile(root, 'a file where the folder should be');
    const archive = createDirectoryArchive({ root, account: 'an-account' });
    await expect(archive.store(day, run, 'file.csv', toBlocks('x'))).rejects.toMatchObject({
      code: 'unwritable',
      message: `${folder()} can't be written in the archive (ENOTDIR)`,
    });
    await expect(archive.list(day, run)).rejects.toMatchObject({ code: 'unreadable' });
    await expect(archive.readLedgerMark()).rejects.toMatchObject({ code: 'unreadable' });
    await expect(archive.listFolders()).rejects.toMatchObject({ code: 'unreadable' });
    await expect(readAll(archive.read(day, run, 'file.csv'))).rejects.toMatchObject({ code: 'unreadable' });
  });
});

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half');
  throw new Error('broken');
}

async function readAll(blocks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of blocks);
}

import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKeyFolder } from '../../../src/storage/day-keys.js';
import { createDirectorySpool, type Spool } from '../../../src/storage/spool.js';
import { blocksOf } from '../../support/blocks.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

const guest = 'Ann Guest-Canary';

describe.each([
  ['as it is', false],
  ['encrypted', true],
])('the spool in a directory, %s,', (_form, isEncrypted) => {
  let home = '';
  let root = '';
  let spool: Spool;
  const openSpool = () => {
    const encryption = { keys: createKeyFolder(join(home, 'keys')), dayOf: () => '2026-11-20' };
    return createDirectorySpool({ root, ...(isEncrypted && { encryption }) });
  };
  beforeEach(() => {
    home = makeTemporaryFolder();
    root = join(home, 'data', 'spool');
    spool = openSpool();
  });

  const read = async (name: string, from = spool) => {
    const blocks: Uint8Array[] = [];
    for await (const block of from.read(name)) blocks.push(Buffer.from(block));
    return Buffer.concat(blocks);
  };

  describe('writes a file', () => {
    it('byte for byte, and returns size and checksum, now and when measured later, by any process', async () => {
      const text = `${guest}, Žižek\n`.repeat(20_000);
      const written = await spool.write('run.csv', blocksOf(text, '.'));
      const content = Buffer.from(`${text}.`);
      expect(written).toEqual({ bytes: content.length, sha256: sha256Of(content) });
      for (const reader of [spool, openSpool()]) {
        expect(await reader.measure('run.csv')).toEqual(written);
        expect((await read('run.csv', reader)).equals(content)).toBe(true);
      }
      // All of it: three random bytes are "Ann" once in forty files.
      expect((await readFile(join(root, 'run.csv'))).includes(guest)).toBe(!isEncrypted);
    });

    it('replacing one of that name', async () => {
      await spool.write('run.csv', blocksOf('a longer one'));
      await spool.write('run.csv', blocksOf('new'));
      expect((await read('run.csv')).toString()).toBe('new');
      expect(await readdir(root)).toEqual(['run.csv']);
    });

    it('for its owner only, whatever the umask', async () => {
      const before = process.umask(0);
      try {
        await spool.write('run.csv', blocksOf('x'));
      } finally {
        process.umask(before);
      }
      expect(await modeOf(join(root, 'run.csv'))).toBe('600');
      for (const folder of [root, dirname(root)]) expect(await modeOf(folder)).toBe('700');
    });

    it('that is not visible under its name until it is complete', async () => {
      await spool.write('run.csv', blocksOf('old'));
      const seen: string[] = [];
      async function* content() {
        yield Buffer.from('half of ');
        seen.push((await read('run.csv')).toString());
        yield Buffer.from('the new one');
        seen.push((await read('run.csv')).toString());
      }
      await spool.write('run.csv', content());
      expect(seen).toEqual(['old', 'old']);
      expect((await read('run.csv')).toString()).toBe('half of the new one');
    });

    it('not at all when its content fails: the old one stays, and the error is rethrown', async () => {
      await spool.write('run.csv', blocksOf('old'));
      const reason = new Error('the run was taken over');
      async function* content() {
        yield Buffer.from('half');
        throw reason;
      }
      await expect(spool.write('run.csv', content())).rejects.toBe(reason);
      await expect(spool.write('other.csv', content())).rejects.toBe(reason);
      expect((await read('run.csv')).toString()).toBe('old');
      expect(await readdir(root)).toEqual(['run.csv']);
    });
  });

  it('locates an existing or new file in an existing folder', async () => {
    const located = await spool.locate('result.csv');
    const path = typeof located === 'string' ? located : located.path;
    expect(path).toBe(join(root, 'result.csv'));
    expect(await modeOf(root)).toBe('700');
    await writeFile(`${path}.part`, 'as a download does');
    expect(await spool.list()).toEqual(['result.csv.part']);
  });

  it('finds nothing where there is nothing, and removes the named files only', async () => {
    await expect(read('run.csv')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await spool.measure('run.csv')).toBeUndefined();
    expect(await spool.list()).toEqual([]);
    for (const name of ['a.csv', 'b.csv', 'c.csv']) await spool.write(name, blocksOf(name));
    await spool.remove(['a.csv', 'gone.csv', 'c.csv']);
    expect(await spool.list()).toEqual(['b.csv']);
  });

  it('lists and removes what a killed writer left; its name starts with that of the file', async () => {
    async function* content() {
      // Only large blocks are written before the end.
      yield Buffer.alloc(1_000_000, guest);
      const left = await spool.list();
      expect(left).toEqual([expect.stringMatching(/^run\.csv\..+\.part$/)]);
      expect((await read(String(left[0]))).toString()).toContain(guest);
      expect(await modeOf(join(root, String(left[0])))).toBe('600');
      await spool.remove(left);
    }
    await expect(spool.write('run.csv', content())).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readdir(root)).toEqual([]);
  });

  if (isEncrypted)
    it('measures no file that was damaged, and none without the folder of its key', async () => {
      await spool.write('run.csv', blocksOf(guest.repeat(20_000)));
      const file = await open(join(root, 'run.csv'), 'r+');
      await file.write(Buffer.from([0, 1, 2, 3]), 0, 4, 100_000);
      await file.close();
      expect(await spool.measure('run.csv')).toBeUndefined();
      const replacement = await openSpool().write('run.csv', blocksOf('anew'));
      expect(await spool.measure('run.csv')).toEqual(replacement);
      await rm(join(home, 'keys'), { recursive: true });
      await expect(openSpool().measure('run.csv')).rejects.toMatchObject({ code: 'unusable' });
    });

  it('ignores foreign files, and can remove everything that it lists', async () => {
    await spool.write('run.csv', blocksOf('x'));
    await mkdir(join(root, 'a folder'));
    await writeFile(join(root, '.DS_Store'), 'x');
    await writeFile(join(home, 'elsewhere'), 'x');
    await symlink(join(home, 'elsewhere'), join(root, 'a link'));
    expect(await spool.list()).toEqual(['run.csv']);
    await spool.remove(await spool.list());
    expect((await readdir(root)).sort()).toEqual(['.DS_Store', 'a folder', 'a link']);
  });

  it.each(['', '..', 'a/run.csv', 'a\\b', '.hidden', 'a\0b'])(
    'refuses the name %j without touching anything',
    async (name) => {
      await writeFile(join(home, 'run.csv'), 'of others');
      await spool.write('run.csv', blocksOf('ours'));
      await expect(spool.write(name, blocksOf('x'))).rejects.toThrow(RangeError);
      await expect(spool.locate(name)).rejects.toThrow(RangeError);
      await expect(read(name)).rejects.toThrow(RangeError);
      await expect(spool.measure(name)).rejects.toThrow(RangeError);
      await expect(spool.remove(['run.csv', name])).rejects.toThrow(RangeError);
      expect((await read('run.csv')).toString()).toBe('ours');
      expect((await readdir(home)).filter((one) => one !== 'keys')).toEqual(['data', 'run.csv']);
      expect(await readdir(root)).toEqual(['run.csv']);
    },
  );
});

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { FileEntryWithStats, Stats } from 'ssh2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RawClient, type ServedSftp, serveSftp } from './served-sftp.js';

const noSuchFile = expect.objectContaining({ code: 2 });
const denied = expect.objectContaining({ code: 3 });
const unsupported = expect.objectContaining({ code: 8 });

describe('a client of the SFTP server', () => {
  let sftp: ServedSftp;
  let raw: RawClient;
  let outside: string;
  beforeEach(async () => {
    sftp = await serveSftp();
    raw = await sftp.connect();
    outside = join(sftp.folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret'), 'secret');
  });
  afterEach(() => sftp.stop());

  it.each(['', '.', '/', '..', '../..', '/../../..', 'a/../../..', '//..//.'])(
    'is at the root with the path %j',
    async (path) => {
      writeFileSync(sftp.disk('here'), '');
      expect(await raw.ask<string>((answer) => raw.files.realpath(path, answer))).toBe('/');
      const entries = await raw.ask<FileEntryWithStats[]>((answer) => raw.files.readdir(path, answer));
      expect(entries.map(({ filename }) => filename)).toEqual(['here']);
      expect((await raw.ask<Stats>((answer) => raw.files.stat(path, answer))).isDirectory()).toBe(true);
    },
  );

  it.each(['../outside/secret', '/../outside/secret', 'a/../../outside/secret', '/etc/passwd'])(
    'finds nothing with the path %j',
    async (path) => {
      await expect(raw.ask((answer) => raw.files.open(path, 'r', answer))).rejects.toEqual(noSuchFile);
      await expect(raw.ask((answer) => raw.files.stat(path, answer))).rejects.toEqual(noSuchFile);
      await expect(raw.ask((answer) => raw.files.unlink(path, answer))).rejects.toEqual(noSuchFile);
      expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
    },
  );

  it('finds nothing by the full path on this disk', async () => {
    const path = join(outside, 'secret');
    await expect(raw.ask((answer) => raw.files.open(path, 'r', answer))).rejects.toEqual(noSuchFile);
  });

  it('cannot use a path with a NUL byte', async () => {
    const request = raw.ask((answer) => raw.files.stat('a\0b', answer));
    await expect(request).rejects.toMatchObject({
      code: 5,
      message: expect.not.stringContaining(sftp.folder),
    });
  });

  describe('when there are symbolic links', () => {
    beforeEach(() => {
      symlinkSync(outside, sftp.disk('folder'));
      symlinkSync(join(outside, 'secret'), sftp.disk('file'));
      symlinkSync(join(outside, 'new'), sftp.disk('dangling'));
      writeFileSync(sftp.disk('mine'), 'mine');
      symlinkSync('mine', sftp.disk('inside'));
    });
    afterEach(() => {
      expect(readdirSync(outside)).toEqual(['secret']);
      expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
      expect(readlinkSync(sftp.disk('file'))).toBe(join(outside, 'secret'));
    });

    it('sees that they are links', async () => {
      const entries = await raw.ask<FileEntryWithStats[]>((answer) => raw.files.readdir('/', answer));
      const links = entries.filter(({ attrs }) => attrs.isSymbolicLink());
      expect(links.map(({ filename }) => filename)).toEqual(['dangling', 'file', 'folder', 'inside']);
      expect(links[0]?.longname).toMatch(/^l/);
      const stats = await raw.ask<Stats>((answer) => raw.files.lstat('/file', answer));
      expect(stats.isSymbolicLink()).toBe(true);
    });

    it.each(['r', 'r+', 'w', 'wx', 'a', 'a+'] as const)('cannot open them with %j', async (flags) => {
      for (const path of ['file', 'inside', 'dangling', 'folder/secret', 'folder/new']) {
        await expect(raw.ask((answer) => raw.files.open(path, flags, answer))).rejects.toEqual(denied);
      }
    });

    it.each<[string, (path: string) => Promise<unknown>]>([
      ['stat', (path) => raw.ask((answer) => raw.files.stat(path, answer))],
      ['list', (path) => raw.ask((answer) => raw.files.readdir(path, answer))],
      ['change the mode of', (path) => raw.ask((answer) => raw.files.chmod(path, 0o600, answer))],
      ['change the times of', (path) => raw.ask((answer) => raw.files.utimes(path, 1, 1, answer))],
      ['truncate', (path) => raw.ask((answer) => raw.files.setstat(path, { size: 0 }, answer))],
      ['remove', (path) => raw.ask((answer) => raw.files.unlink(path, answer))],
      ['remove the folder', (path) => raw.ask((answer) => raw.files.rmdir(path, answer))],
      ['move', (path) => raw.ask((answer) => raw.files.rename(path, '/moved', answer))],
      ['move something onto', (path) => raw.ask((answer) => raw.files.rename('/mine', path, answer))],
      ['make a folder in place of', (path) => raw.ask((answer) => raw.files.mkdir(path, answer))],
    ])('cannot %s them', async (_what, request) => {
      for (const path of ['/file', '/folder', '/folder/secret', '/dangling', '/inside']) {
        await expect(request(path)).rejects.toEqual(denied);
      }
      expect(sftp.onDisk('mine')).toBe('mine');
    });

    it('cannot read their targets', async () => {
      await expect(raw.ask((answer) => raw.files.readlink('/file', answer))).rejects.toEqual(unsupported);
    });
  });

  it('cannot create links, symbolic or hard', async () => {
    const soft = raw.ask((answer) => raw.files.symlink(join(outside, 'secret'), '/link', answer));
    await expect(soft).rejects.toEqual(unsupported);
    expect(readdirSync(sftp.disk(''))).toEqual([]);
  });

  it('cannot move, remove or change the root', async () => {
    mkdirSync(sftp.disk('empty'));
    await expect(raw.ask((answer) => raw.files.rmdir('/', answer))).rejects.toEqual(denied);
    await expect(raw.ask((answer) => raw.files.unlink('/..', answer))).rejects.toEqual(denied);
    await expect(raw.ask((answer) => raw.files.rename('/', '/empty/x', answer))).rejects.toEqual(denied);
    await expect(raw.ask((answer) => raw.files.chmod('/', 0, answer))).rejects.toEqual(denied);
    expect(readdirSync(sftp.disk(''))).toEqual(['empty']);
    expect(statSync(sftp.disk('')).mode & 0o777).toBe(0o700);
  });

  it('creates files and folders for their owner only, whatever mode it asks for', async () => {
    await raw.ask((answer) => raw.files.mkdir('/open', { mode: 0o777 }, answer));
    const handle = await raw.ask<Buffer>((answer) => raw.files.open('/open/file', 'w', 0o666, answer));
    await raw.ask((answer) => raw.files.close(handle, answer));
    expect(statSync(sftp.disk('open')).mode & 0o777).toBe(0o700);
    expect(statSync(sftp.disk('open/file')).mode & 0o777).toBe(0o600);

    await raw.ask((answer) => raw.files.chmod('/open/file', 0o4777, answer));
    expect(statSync(sftp.disk('open/file')).mode & 0o7777).toBe(0o700);
  });

  it('cannot change the owner of files', async () => {
    writeFileSync(sftp.disk('mine'), '');
    const { uid, gid } = lstatSync(sftp.disk('mine'));
    await expect(raw.ask((answer) => raw.files.chown('/mine', uid + 1, gid, answer))).rejects.toEqual(denied);
    await raw.ask((answer) => raw.files.chown('/mine', uid, gid, answer));
    expect(existsSync(sftp.disk('mine'))).toBe(true);
  });
});

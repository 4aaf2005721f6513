import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { FileEntryWithStats, Stats } from 'ssh2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RawClient, type ServedSftp, serveSftp } from './served-sftp.js';

const noSuchFile = expect.objectContaining({ code: 2 });
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
    await expect(request).rejects.toMatchObject({ message: expect.not.stringContaining(sftp.folder) });
  });

  it('sees symbolic links, and cannot read their targets', async () => {
    symlinkSync(outside, sftp.disk('folder'));
    const entries = await raw.ask<FileEntryWithStats[]>((answer) => raw.files.readdir('/', answer));
    expect(entries.map(({ attrs, longname }) => [attrs.isSymbolicLink(), longname[0]])).toEqual([
      [true, 'l'],
    ]);
    const stats = await raw.ask<Stats>((answer) => raw.files.lstat('/folder', answer));
    expect(stats.isSymbolicLink()).toBe(true);
    await expect(raw.ask((answer) => raw.files.readlink('/folder', answer))).rejects.toEqual(unsupported);
  });

  it('cannot create links, symbolic or hard', async () => {
    const soft = raw.ask((answer) => raw.files.symlink(join(outside, 'secret'), '/link', answer));
    await expect(soft).rejects.toEqual(unsupported);
    expect(readdirSync(sftp.disk(''))).toEqual([]);
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

  it('leaves the owner of a file as it is', async () => {
    writeFileSync(sftp.disk('mine'), '');
    const { uid, gid } = lstatSync(sftp.disk('mine'));
    await raw.ask((answer) => raw.files.chown('/mine', uid + 1, gid, answer));
    expect(lstatSync(sftp.disk('mine'))).toMatchObject({ uid, gid });
  });
});

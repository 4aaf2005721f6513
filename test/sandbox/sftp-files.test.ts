import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { Stats } from 'ssh2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RawClient, type ServedSftp, serveSftp } from './served-sftp.js';

const failure = expect.objectContaining({ code: 4 });
const noSuchFile = expect.objectContaining({ code: 2 });
const unsupported = expect.objectContaining({ code: 8 });

describe('files on the SFTP server', () => {
  let sftp: ServedSftp;
  let raw: RawClient;
  beforeEach(async () => {
    sftp = await serveSftp();
    raw = await sftp.connect();
    sftp.told.splice(0);
  });
  afterEach(() => sftp.stop());

  const open = (path: string, flags: Parameters<RawClient['files']['open']>[1]) =>
    raw.ask<Buffer>((answer) => raw.files.open(path, flags, answer));
  const close = (handle: Buffer) => raw.ask((answer) => raw.files.close(handle, answer));
  const write = (handle: Buffer, position: number, data: Buffer | string) => {
    const bytes = Buffer.from(data);
    return raw.ask((answer) => raw.files.write(handle, bytes, 0, bytes.length, position, answer));
  };
  const read = async (handle: Buffer, position: number, length: number) => {
    const buffer = Buffer.alloc(length);
    const bytesRead = await raw.ask<number>((answer) =>
      raw.files.read(handle, buffer, 0, length, position, answer),
    );
    return buffer.toString('utf8', 0, bytesRead);
  };

  describe('opened', () => {
    it.each([
      // flags, content before, content after writing 'XY' at position 1 ('\0' is a hole)
      ['r+', 'abcd', 'aXYd'],
      ['w', 'abcd', '\0XY'],
      ['w', undefined, '\0XY'],
      ['w+', 'abcd', '\0XY'],
      ['wx', undefined, '\0XY'],
      ['xw+', undefined, '\0XY'],
      ['a', 'abcd', 'abcdXY'],
      ['a', undefined, 'XY'],
      ['a+', 'abcd', 'abcdXY'],
      ['ax', undefined, 'XY'],
      ['xa+', undefined, 'XY'],
    ] as const)('with %j, where %j lies, become %j', async (flags, before, after) => {
      if (before !== undefined) writeFileSync(sftp.disk('x'), before);
      const handle = await open('x', flags);
      await write(handle, 1, 'XY');
      await close(handle);
      expect(sftp.onDisk('x')).toBe(after);
      expect(sftp.told).toEqual([`SFTP: received x, ${after.length} bytes`]);
    });

    it.each(['wx', 'xw+', 'ax', 'xa+'] as const)('with %j must not exist', async (flags) => {
      writeFileSync(sftp.disk('x'), 'abcd');
      await expect(open('x', flags)).rejects.toEqual(failure);
      expect(sftp.onDisk('x')).toBe('abcd');
    });

    it.each(['r', 'r+'] as const)('with %j must exist', async (flags) => {
      await expect(open('x', flags)).rejects.toEqual(noSuchFile);
      await expect(open('no/x', flags)).rejects.toEqual(noSuchFile);
      expect(readdirSync(sftp.disk(''))).toEqual([]);
    });

    it('for reading cannot be written, as the answer says', async () => {
      writeFileSync(sftp.disk('x'), 'abcd');
      const handle = await open('x', 'r');
      await expect(write(handle, 0, 'X')).rejects.toEqual(failure);
      await close(handle);
      expect(sftp.onDisk('x')).toBe('abcd');
      expect(sftp.told).toEqual([]);
    });

    it('are read in pieces up to the end', async () => {
      writeFileSync(sftp.disk('x'), 'abcdef');
      const handle = await open('x', 'r');
      expect([await read(handle, 4, 100), await read(handle, 0, 2), await read(handle, 6, 1)]).toEqual([
        'ef',
        'ab',
        '',
      ]);
    });

    it('have attributes that can be read and changed', async () => {
      const handle = await open('x', 'w');
      await write(handle, 0, 'abcdef');
      await raw.ask((answer) => raw.files.fsetstat(handle, { size: 3, mode: 0o400 }, answer));
      await raw.ask((answer) => raw.files.futimes(handle, 1_000, 2_000, answer));
      const stats = await raw.ask<Stats>((answer) => raw.files.fstat(handle, answer));
      expect(stats).toMatchObject({ size: 3, mode: 0o100400, atime: 1_000, mtime: 2_000 });
      expect(stats.isFile()).toBe(true);
    });

    it('are accessible by their handles until they are closed', async () => {
      const handle = await open('x', 'w');
      await close(handle);
      const folder = await raw.ask<Buffer>((answer) => raw.files.opendir('/', answer));
      for (const wrong of [handle, folder, Buffer.from('no such'), Buffer.alloc(0)]) {
        await expect(write(wrong, 0, 'x')).rejects.toEqual(failure);
        await expect(raw.ask((answer) => raw.files.fstat(wrong, answer))).rejects.toEqual(failure);
      }
      await expect(close(handle)).rejects.toEqual(failure);
      await close(folder);
      expect(sftp.onDisk('x')).toBe('');
    });

    it('are complete when many writes and the close are sent at once, in any order', async () => {
      const content = randomBytes(3_000_001);
      const handle = await open('x', 'w');
      const positions = Array.from(
        { length: Math.ceil(content.length / 30_000) },
        (_, index) => index * 30_000,
      );
      const mixed = [
        ...positions.filter((_, index) => index % 3 > 0).reverse(),
        ...positions.filter((_, index) => index % 3 === 0),
      ];
      await Promise.all([
        ...mixed.map((position) => write(handle, position, content.subarray(position, position + 30_000))),
        close(handle),
      ]);
      expect(readFileSync(sftp.disk('x')).equals(content)).toBe(true);
      expect(sftp.told).toEqual([`SFTP: received x, ${content.length} bytes`]);
    });
  });

  it('can be truncated and given other times by path', async () => {
    writeFileSync(sftp.disk('x'), 'abcdef');
    await raw.ask((answer) => raw.files.setstat('x', { size: 2 }, answer));
    await raw.ask((answer) => raw.files.utimes('x', 3_000, 4_000, answer));
    expect(sftp.onDisk('x')).toBe('ab');
    expect(statSync(sftp.disk('x')).mtimeMs).toBe(4_000_000);
  });

  it('are not affected by unannounced extensions for copy, link or sync', async () => {
    writeFileSync(sftp.disk('x'), '');
    const { files } = raw;
    expect(() => files.ext_openssh_hardlink('x', 'y', () => {})).toThrow('does not support');
    expect(() => files.ext_openssh_rename('x', 'y', () => {})).toThrow('does not support');
    await expect(raw.ask((answer) => files.symlink('x', 'y', answer))).rejects.toEqual(unsupported);
  });
});

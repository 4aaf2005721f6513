import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import type { FileEntryWithStats } from 'ssh2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RawClient, type ServedSftp, serveSftp } from './served-sftp.js';

const failure = expect.objectContaining({ code: 4 });
const noSuchFile = expect.objectContaining({ code: 2 });

describe('files in folders on the SFTP server', () => {
  let sftp: ServedSftp;
  let raw: RawClient;
  beforeEach(async () => {
    sftp = await serveSftp();
    raw = await sftp.connect();
    sftp.told.splice(0);
  });
  afterEach(() => sftp.stop());

  describe('listed', () => {
    it('come in several answers, each line like one of ls -l', async () => {
      for (let index = 0; index < 250; index += 1)
        writeFileSync(sftp.disk(`file ${index}`), 'x'.repeat(index));
      mkdirSync(sftp.disk('folder'), 0o700);
      utimesSync(sftp.disk('folder'), new Date(2021, 1, 3), new Date(2021, 1, 3));
      const handle = await raw.ask<Buffer>((answer) => raw.files.opendir('/', answer));
      const answers: FileEntryWithStats[][] = [];
      for (;;) {
        const next = raw.ask<FileEntryWithStats[]>((answer) => raw.files.readdir(handle, answer));
        const entries = await next.catch(() => undefined);
        if (!entries) break;
        answers.push(entries);
      }
      const entries = answers.flat();
      expect(answers.length).toBeGreaterThan(2);
      expect(entries.map(({ filename }) => filename).sort()).toEqual(readdirSync(sftp.disk('')).sort());
      const lineOf = (name: string) => entries.find(({ filename }) => filename === name)?.longname;
      expect(lineOf('file 249')).toMatch(
        /^-rw-[r-]--[r-]-- {3}1 +\d+ +\d+ +249 [A-Z][a-z]{2} \d\d {2}\d{4} file 249$/,
      );
      expect(lineOf('folder')).toMatch(/^drwx------ {3}2 +\d+ +\d+ +\d+ Feb 03 {2}2021 folder$/);
    });

    it('must be in a folder', async () => {
      writeFileSync(sftp.disk('x'), '');
      await expect(raw.ask((answer) => raw.files.opendir('x', answer))).rejects.toEqual(noSuchFile);
      await expect(raw.ask((answer) => raw.files.opendir('no', answer))).rejects.toEqual(noSuchFile);
    });
  });

  describe('moved and removed', () => {
    beforeEach(() => {
      writeFileSync(sftp.disk('x'), 'new');
      mkdirSync(sftp.disk('folder'));
    });

    it('are reported with their paths', async () => {
      await raw.ask((answer) => raw.files.rename('/x', 'folder/../folder/y', answer));
      expect(sftp.onDisk('folder/y')).toBe('new');
      await raw.ask((answer) => raw.files.unlink('folder/y', answer));
      await raw.ask((answer) => raw.files.rmdir('/folder/', answer));
      expect(readdirSync(sftp.disk(''))).toEqual([]);
      expect(sftp.told).toEqual([
        'SFTP: renamed x to folder/y',
        'SFTP: removed folder/y',
        'SFTP: removed folder',
      ]);
    });

    it('do not replace existing files', async () => {
      writeFileSync(sftp.disk('y'), 'old');
      for (const target of ['y', 'folder', 'x']) {
        await expect(raw.ask((answer) => raw.files.rename('x', target, answer))).rejects.toEqual(failure);
      }
      expect([sftp.onDisk('x'), sftp.onDisk('y')]).toEqual(['new', 'old']);
      expect(sftp.told).toEqual([]);
    });

    it('get a name only once among concurrent clients', async () => {
      const other = await sftp.connect();
      writeFileSync(sftp.disk('y'), 'other');
      const both = await Promise.allSettled([
        raw.ask((answer) => raw.files.rename('x', 'target', answer)),
        other.ask((answer) => other.files.rename('y', 'target', answer)),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(readdirSync(sftp.disk(''))).toHaveLength(3);
    });

    it('must exist', async () => {
      await expect(raw.ask((answer) => raw.files.rename('no', 'y', answer))).rejects.toEqual(noSuchFile);
      await expect(raw.ask((answer) => raw.files.unlink('no', answer))).rejects.toEqual(noSuchFile);
      await expect(raw.ask((answer) => raw.files.rmdir('no', answer))).rejects.toEqual(noSuchFile);
    });

    it('must not be non-empty folders', async () => {
      writeFileSync(sftp.disk('folder/y'), '');
      await expect(raw.ask((answer) => raw.files.rmdir('folder', answer))).rejects.toEqual(failure);
      await expect(raw.ask((answer) => raw.files.unlink('folder', answer))).rejects.toEqual(failure);
      expect(existsSync(sftp.disk('folder/y'))).toBe(true);
    });
  });

  it('are created, moved and removed in the order of the requests, without waiting for answers', async () => {
    const paths = Array.from({ length: 20 }, (_, index) => `0${'/x'.repeat(index)}`);
    await Promise.all([
      ...paths.map((path) => raw.ask((answer) => raw.files.mkdir(path, answer))),
      raw.ask((answer) => raw.files.rename('0', '1', answer)),
      raw.ask((answer) => raw.files.opendir('1/x/x', answer)),
    ]);
    await Promise.all(
      paths.reverse().map((path) => raw.ask((answer) => raw.files.rmdir(path.replace('0', '1'), answer))),
    );
    expect(readdirSync(sftp.disk(''))).toEqual([]);
  });
});

import { readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type DayFolder, day } from '../support/day-folder.js';
import { prepareFileDay } from '../support/file-day.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(sandboxSftp);

/** Files and folders that the commands have created, with their modes. */
async function listModes({ path: root, bookingsFile, configurationFile, temporaryFolder }: DayFolder) {
  const ours = [bookingsFile, configurationFile, temporaryFolder];
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !ours.includes(path));
  return Promise.all(
    paths.map(async (path) => {
      const stats = await stat(path);
      return { name: relative(root, path), isFolder: stats.isDirectory(), mode: stats.mode & 0o777 };
    }),
  );
}

describe('on a machine with other users', () => {
  it('every file that may hold a name is readable for its owner only, whatever the umask', async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const { folder } = await prepareFileDay(server(), { bookings: toCsv(makeBookings(6)) });
    for (const args of [
      ['run', '--day', day, '--dry-run', '--out', 'out'],
      ['run', '--day', day],
      ['affected', day, '--csv', 'affected.csv'],
      ['replay', day, '--delivery', 'body'],
    ])
      expect((await folder.run(args)).exitCode).toBe(0);
    const found = await listModes(folder);
    expect(found.filter(({ name }) => name.endsWith('.csv')).length).toBeGreaterThan(3);
    expect(found.filter(({ isFolder, mode }) => isFolder && mode !== 0o700)).toEqual([]);
    // What guards the right to run a day is empty, and in a folder of its own.
    const files = found.filter(({ name, isFolder }) => !isFolder && !name.endsWith('.lock'));
    expect(files.filter(({ mode }) => mode !== 0o600)).toEqual([]);
  });

  it('no file is written through a link that somebody else has put in its place', async () => {
    const { folder } = await prepareFileDay(server(), { bookings: toCsv(makeBookings(6)) });
    const victim = join(folder.path, 'victim');
    await writeFile(victim, 'untouched');
    expect((await folder.run(['run', '--day', day])).exitCode).toBe(0);
    for (const name of ['affected.csv', 'dangling.csv'])
      await symlink(name === 'affected.csv' ? victim : join(folder.path, 'new'), join(folder.path, name));
    for (const name of ['affected.csv', 'dangling.csv'])
      expect(await folder.run(['affected', day, '--csv', name])).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('exists already'),
      });
    expect(await readdir(folder.path)).not.toContain('new');
    expect((await stat(victim)).size).toBe('untouched'.length);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SftpDouble } from '../crash/sftp-double.js';

/** The files of ours, but for the exports, and those of the SFTP server. */
export function createStoredFiles(folder: string, sftp: SftpDouble) {
  const listFiles = (root: string) =>
    readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

  return {
    /** Where a text stands. */
    search(text: string): readonly string[] {
      const ours = listFiles(folder)
        .filter(({ name }) => !name.startsWith('bookings-'))
        .map(({ parentPath, name }) => join(parentPath, name))
        .filter((path) => readFileSync(path).includes(text));
      const theirs = Object.entries(sftp.readAll()).filter(([, content]) => content.includes(text));
      return [
        ...ours.map((path) => path.slice(folder.length + 1)),
        ...theirs.map(([path]) => `sftp: ${path}`),
      ];
    },
    /** The runs that have files in the archive, beside what is kept of each. */
    listArchived(): readonly string[] {
      const files = listFiles(join(folder, 'data', 'archive'));
      const runs = files
        .filter(({ name }) => name !== 'manifest.json' && !name.startsWith('.'))
        .map(({ parentPath }) => basename(parentPath));
      return [...new Set(runs.filter((name) => name.includes('-run')))].sort();
    },
  };
}

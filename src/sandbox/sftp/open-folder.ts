import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileEntry } from 'ssh2';
import type { Place } from './jail.js';
import { toAttributes } from './open-file.js';

/** A folder being listed by a client. */
export interface OpenFolder {
  readonly kind: 'folder';
  /** The next entries; undefined when there are no more. */
  next(): Promise<readonly FileEntry[] | undefined>;
}

/** Even with names of maximal length, each sent twice, this fills less than half a packet. */
const entriesPerAnswer = 100;

/** Reads all names at once; entries that have disappeared by the time they are described are left out. */
export async function openFolder(place: Place): Promise<OpenFolder> {
  const names = (await readdir(place.onDisk)).sort();

  const describe = async (name: string): Promise<FileEntry[]> => {
    try {
      const stats = await lstat(join(place.onDisk, name));
      return [{ filename: name, longname: longNameOf(name, stats), attrs: toAttributes(stats) }];
    } catch {
      return [];
    }
  };

  return {
    kind: 'folder',
    async next() {
      while (names.length > 0) {
        const entries = (await Promise.all(names.splice(0, entriesPerAnswer).map(describe))).flat();
        if (entries.length > 0) return entries;
      }
      return undefined;
    },
  };
}

/** Like a line of `ls -l`, with numeric owner and group. People read it. */
function longNameOf(name: string, stats: Stats): string {
  const { nlink, uid, gid, size, mtime } = stats;
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-';
  const bits = [...'rwxrwxrwx'].map((letter, index) => (stats.mode & (0o400 >> index) ? letter : '-'));
  const numbers = [nlink, uid, gid].map((number) => ` ${String(number).padStart(3)}`);
  const [, day, month, year] = mtime.toUTCString().split(' ');
  return `${kind}${bits.join('')}${numbers.join('')} ${String(size).padStart(8)} ${month} ${day}  ${year} ${name}`;
}

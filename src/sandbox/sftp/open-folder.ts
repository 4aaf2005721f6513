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
export async function openFolder(place: Place, clock: () => number): Promise<OpenFolder> {
  const names = (await readdir(place.onDisk)).sort();

  const describe = async (name: string): Promise<FileEntry[]> => {
    try {
      const stats = await lstat(join(place.onDisk, name));
      return [{ filename: name, longname: longNameOf(name, stats, clock()), attrs: toAttributes(stats) }];
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

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const recentMs = 180 * 24 * 3_600_000;

/** A line as printed by `ls -l`, with numeric owner and group. People read it, and some clients parse it. */
function longNameOf(name: string, stats: Stats, now: number): string {
  const numbers = [
    String(stats.nlink).padStart(3),
    String(stats.uid).padEnd(8),
    String(stats.gid).padEnd(8),
    String(stats.size).padStart(8),
  ];
  return `${modeOf(stats)} ${numbers.join(' ')} ${timeOf(stats.mtime, now)} ${name}`;
}

function modeOf(stats: Stats): string {
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-';
  const bits = [...'rwxrwxrwx'].map((letter, index) => (stats.mode & (0o400 >> index) ? letter : '-'));
  return kind + bits.join('');
}

/** Old and future files show the year instead of the time. */
function timeOf(time: Date, now: number): string {
  const age = now - time.getTime();
  const two = (number: number) => String(number).padStart(2, '0');
  const hour = `${two(time.getHours())}:${two(time.getMinutes())}`;
  const last = age >= 0 && age < recentMs ? hour : ` ${time.getFullYear()}`;
  return `${months[time.getMonth()]} ${String(time.getDate()).padStart(2)} ${last}`;
}

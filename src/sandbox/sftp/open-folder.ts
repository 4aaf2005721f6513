import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileEntry } from 'ssh2';
import { toAttributes } from './attributes.js';
import type { Place } from './jail.js';
import { longNameOf } from './long-name.js';

/** A folder that a client lists. */
export interface OpenFolder {
  readonly kind: 'folder';
  /** The next entries; undefined when there are no more. */
  next(): Promise<readonly FileEntry[] | undefined>;
}

/** With the longest names, written twice, still less than half of what a packet holds. */
const entriesPerAnswer = 100;

/** Takes down the names at once; what is gone when its turn comes is left out. */
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

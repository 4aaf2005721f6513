import { type StatsFs, statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What is free on a disk. */
export interface DiskRoom {
  readonly bytes: number;
  /** How many more files it can hold. */
  readonly inodes: number;
}

/** The room on the disk of that folder. @throws the system's error */
export async function measureRoom(folder: string): Promise<DiskRoom> {
  return toRoom(await statfs(folder));
}

function toRoom({ bavail, bsize, files, ffree }: StatsFs): DiskRoom {
  // Some file systems count no files.
  return { bytes: bavail * bsize, inodes: files === 0 ? Number.POSITIVE_INFINITY : ffree };
}

/** What is said of a disk where nothing more is known. */
export const isFull = 'is full: free some space';

/** What to say of the disk where a write to that path failed; undefined if it did not fail for lack of room. */
export function explainNoRoom(error: unknown, path: string): string | undefined {
  const { code, syscall } = (error ?? {}) as { readonly code?: unknown; readonly syscall?: unknown };
  if (code === 'EDQUOT') return 'is beyond the quota of this user: remove files there';
  const lacksInodes = 'has no free inodes, although it may have free space: remove files there';
  // Node says so when it can't make the first of several folders.
  if (code === 'ENOENT' && syscall === 'mkdir') return hasNoInodes(path) ? lacksInodes : undefined;
  if (code !== 'ENOSPC') return undefined;
  return hasNoInodes(path) ? lacksInodes : isFull;
}

function hasNoInodes(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    try {
      return toRoom(statfsSync(folder)).inodes === 0;
    } catch {
      // Perhaps it was to be made.
      if (dirname(folder) === folder) return false;
    }
  }
}

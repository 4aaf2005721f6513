import { randomUUID } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

interface Place {
  /** The folder itself, or where it is missing the nearest one above it that is there. */
  readonly folder: string;
  readonly isThere: boolean;
}

/** Looks where a path leads, as far as it is there. @throws the system's error, also where a file stands in the way */
export async function findPlace(path: string): Promise<Place> {
  let folder = path;
  while (!(await isFolder(folder))) {
    if (dirname(folder) === folder) break;
    folder = dirname(folder);
  }
  return { folder, isThere: folder === path };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
  throw new NotAFolderError(path);
}

/** Something else stands where a folder is to be. It is told as the system's own errors are. */
class NotAFolderError extends Error {
  readonly code = 'ENOTDIR';
  readonly syscall = 'stat';
  constructor(path: string) {
    super(`ENOTDIR: not a directory, stat '${path}'`);
  }
}

/** Writes a little file into a folder and removes it: permissions alone don't tell. @throws the system's error */
export async function tryToWrite(folder: string): Promise<void> {
  const path = join(folder, `.hotel-review-doctor-${randomUUID()}.tmp`);
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile('A file of hotel-review doctor. It can be removed.\n');
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

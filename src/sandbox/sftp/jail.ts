import type { Stats } from 'node:fs';
import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join, posix, sep } from 'node:path';
import { RequestRefused, status } from './answer.js';

/** Where a client's path leads. */
export interface Place {
  /** From the root on, without a leading slash; empty for the root itself. */
  readonly path: string;
  readonly onDisk: string;
  /** Undefined where there is nothing. */
  readonly stats: Stats | undefined;
}

/**
 * Keeps clients inside one folder of this disk, which they see as `/`. `..` ends there, and a symbolic link is neither
 * followed nor changed: a client can see that it is there, no more. Clients cannot make links, so none can come into a
 * path between the look at it and its use, but by somebody who has this disk anyway.
 */
export interface Jail {
  /**
   * @throws RequestRefused when a link is on the way, or at its end
   * @throws Error of the file system, for instance when there is no such folder on the way
   */
  locate(path: string): Promise<Place>;
  /** The same, but at the end of the way there may be a link. */
  locateEvenLink(path: string): Promise<Place>;
}

/** The root is made when it is not there. It may itself lie behind a link. */
export async function createJail(root: string): Promise<Jail> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const realRoot = await realpath(root);

  const walk = async (path: string, mayEndInLink: boolean): Promise<Place> => {
    const names = namesOn(path);
    const last = names.length - 1;
    let onDisk = realRoot;
    let stats: Stats | undefined = await lstat(realRoot);
    for (const [index, name] of names.entries()) {
      if (name.includes(sep)) throw new RequestRefused(status.PERMISSION_DENIED, 'Not a name for a file');
      onDisk = join(onDisk, name);
      stats = index === last ? await lstatIfThere(onDisk) : await lstat(onDisk);
      if (stats?.isSymbolicLink() && !(index === last && mayEndInLink)) {
        throw new RequestRefused(status.PERMISSION_DENIED, 'Links are not followed');
      }
    }
    return { path: names.join('/'), onDisk, stats };
  };

  return {
    locate: (path) => walk(path, false),
    locateEvenLink: (path) => walk(path, true),
  };
}

/** A client's path as seen from the root, without dots; relative ones start there too. */
export function normalisePath(path: string): string {
  return posix.resolve('/', path);
}

function namesOn(path: string): string[] {
  return normalisePath(path).split('/').filter(Boolean);
}

async function lstatIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

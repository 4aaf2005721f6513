import type { Stats } from 'node:fs';
import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join, posix, sep } from 'node:path';
import ssh2 from 'ssh2';
import { nameReason } from '../common/errors.js';

/** A client's path resolved on this disk. */
export interface Place {
  /** Relative to the root, without a leading slash; empty for the root itself. */
  readonly path: string;
  readonly onDisk: string;
  /** Undefined when nothing exists there. */
  readonly stats: Stats | undefined;
}

/**
 * Confines clients to one folder, which they see as `/`. `..` stops there, and symbolic links are visible but neither
 * followed nor changed. Clients can't create links, so only somebody with access to this disk could insert one between
 * check and use.
 */
export interface Jail {
  /**
   * @throws RequestRefused for a path that contains a link
   * @throws a system error, for instance when a parent folder doesn't exist
   */
  locate(path: string): Promise<Place>;
  /** Like `locate`, but the last component may be a link. */
  locateLink(path: string): Promise<Place>;
}

/** Creates the root when missing. The root's own path may contain links. */
export async function createJail(root: string): Promise<Jail> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const realRoot = await realpath(root);

  const walk = async (path: string, mayEndInLink: boolean): Promise<Place> => {
    const names = namesOn(path);
    const last = names.length - 1;
    let onDisk = realRoot;
    let stats: Stats | undefined = await lstat(realRoot);
    for (const [index, name] of names.entries()) {
      if (name.includes(sep)) throw new RequestRefused(status.PERMISSION_DENIED, 'Not a valid file name');
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
    locateLink: (path) => walk(path, true),
  };
}

/** A client's path as an absolute one without dots; relative paths start at the root. */
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

export const status = ssh2.utils.sftp.STATUS_CODE;

/** A request that is refused. Its message goes to the client. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** By the code of a system error. Never Node's own message, which contains paths of this disk. */
const failures: Readonly<Record<string, readonly [number, string]>> = {
  ENOENT: [status.NO_SUCH_FILE, 'No such file or folder'],
  ENOTDIR: [status.NO_SUCH_FILE, 'No such file or folder'],
  EACCES: [status.PERMISSION_DENIED, 'Permission denied'],
  EPERM: [status.PERMISSION_DENIED, 'Permission denied'],
  EROFS: [status.PERMISSION_DENIED, 'Permission denied'],
  ELOOP: [status.PERMISSION_DENIED, 'Permission denied'],
  ENAMETOOLONG: [status.BAD_MESSAGE, 'Invalid path or value'],
  ERR_INVALID_ARG_VALUE: [status.BAD_MESSAGE, 'Invalid path or value'],
  ENOSPC: [status.FAILURE, 'No space left on the disk'],
  EDQUOT: [status.FAILURE, 'No space left on the disk'],
  EEXIST: [status.FAILURE, 'The name is already in use'],
  ENOTEMPTY: [status.FAILURE, 'The folder is not empty'],
  EISDIR: [status.FAILURE, 'Is a folder'],
};

/** Status and message for a failed request. */
export function explainFailure(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof RequestRefused) return { status: error.status, message: error.message };
  const [code, message] = failures[nameReason(error)] ?? [status.FAILURE, 'Failure'];
  return { status: code, message };
}

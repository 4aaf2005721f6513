import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { LedgerFullError, LedgerUnusableError } from '../errors.js';

/** The system's codes for an unsuitable place. A full or broken disk is different: that is temporary. */
const misplaced: readonly unknown[] = [
  'EACCES',
  'EEXIST',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
  'EROFS',
];

const noRoom: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

/** SQLite's result codes. */
const readOnly = 8;
const cannotOpen = 14;
const notADatabase = 26;

/**
 * Creates the file and its folder if they don't exist. The file will contain guest names, so it is created for its owner
 * only, before SQLite writes to it. An existing file is not even opened: closing it would drop the locks that another
 * connection of this process holds on it, and the next process to exit would then remove the WAL that this connection
 * still uses.
 */
export function makePlace(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  checkFile(path);
  accessSync(path, constants.R_OK | constants.W_OK);
  accessSync(dirname(path), constants.W_OK | constants.X_OK);
}

/**
 * Returns whether there is a file. Creates nothing.
 *
 * @throws LedgerUnusableError if there is something other than a file, or the path is not accessible
 */
export function fileExists(path: string): boolean {
  return refuseUnusable(path, () => {
    try {
      checkFile(path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
  });
}

/** Restricts the file, and the files that SQLite keeps beside it, to the owner, in case somebody changed the mode. */
export function restrictToOwner(path: string): void {
  if ((statSync(path).mode & 0o077) === 0) return;
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
}

/** Runs the work. Failures caused by the path, or by what is there, become errors that say what to fix. */
export function refuseUnusable<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (noRoom.includes(codeOf(error))) throw new LedgerFullError(path, { cause: error });
    const reason = explain(error, path);
    throw reason === undefined ? error : new LedgerUnusableError(path, reason, { cause: error });
  }
}

function explain(error: unknown, path: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // Extended codes have the primary code in their lowest byte.
  switch ('rawCode' in error && Number(error.rawCode) & 0xff) {
    case notADatabase:
      return 'expected an SQLite database, got: a file of another kind; name another with the setting ledger';
    case readOnly:
    case cannotOpen:
      return `expected it and ${path}.locks to be writable, got: ${error.message}; fix their permissions`;
  }
  return 'syscall' in error && misplaced.includes(codeOf(error))
    ? `expected a file that can be created, read and written, got: ${error.message}; fix that, or name another with the setting ledger`
    : undefined;
}

function checkFile(path: string): void {
  const stats = statSync(path);
  if (stats.isFile()) return;
  const got = stats.isDirectory() ? 'a folder; name a file in it' : 'something else; name another';
  throw new LedgerUnusableError(path, `expected a file, got: ${got} with the setting ledger`);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

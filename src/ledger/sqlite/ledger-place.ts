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
import { LedgerFullError, LedgerUnusableError } from '../../review/ledger.js';

/** What the system says of a wrong place. A disk that is full or broken is another matter: that passes. */
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
 * Makes the file where there is none, and its folder. Guest names lie here: it is made for its owner alone before
 * SQLite writes to it. One that exists is not even opened, for to close it again would drop the locks that another
 * connection of this process holds on it, and the next process to leave would then remove the WAL under that
 * connection's hands.
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
 * Tells whether there is a file, and makes nothing.
 *
 * @throws LedgerUnusableError when something else stands there, or one can't look
 */
export function isFileThere(path: string): boolean {
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

/** Closes the file to others, as well as what SQLite keeps beside it, where a person had opened it by hand. */
export function closeToOthers(path: string): void {
  if ((statSync(path).mode & 0o077) === 0) return;
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
}

/** Does the work. Failures caused by the path, or by what is there, become errors that say what to fix. */
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
  // The extended codes keep the plain one in their lowest byte.
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

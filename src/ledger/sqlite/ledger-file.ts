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
import { dirname, join } from 'node:path';
import { explainNoRoom } from '../../base/disk-room.js';
import { codeOf } from '../../base/safe-error.js';
import { LedgerFullError, LedgerUnusableError } from '../errors.js';
import { nameOfHeldDay, quickRewrite, type RewriteLimits } from '../retention.js';
import { clearRemains, isLogEmpty, noteRemoval } from './clear-remains.js';
import { type Database, isBusy, openDatabase } from './database.js';
import { createFileWatch, refuseDamage, refuseOtherLog, unwatched } from './file-watch.js';
import { migrate, readSchema } from './schema.js';

/** A lock that nothing else refers to must not end because the garbage collector closes its file. */
const held = new Set<Database>();

/**
 * Takes a lock without waiting; undefined if somebody else has it. The kernel holds it for this process, as the right to
 * write an empty side file. It ends with the process, however that happens, so a dead owner's day is free at once.
 */
export function tryLock(folder: string, name: string): { release(): void } | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = openDatabase(join(folder, `${name}.lock`), { busyTimeoutMs: 0 });
  try {
    // Not EXCLUSIVE: that is also refused while others try, so of two that try at once, neither might get it.
    database.exec('BEGIN IMMEDIATE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  held.add(database);
  return {
    release() {
      if (!held.delete(database)) return;
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

/** How long a checkpoint waits for those who are reading: another one comes. */
const checkpointTimeoutMs = 250;

interface LedgerFileOptions {
  readonly isReader: boolean;
  /** How long it waits while another process writes. Default 15,000: far longer than any of our transactions takes. */
  readonly busyTimeoutMs?: number | undefined;
  /** Its file is removed once it is open. */
  readonly isUnlinked?: true | undefined;
}

export type LedgerFile = ReturnType<typeof openLedgerFile>;

/**
 * Opens the ledger's file, creates it if there is none, and brings its schema up to date.
 *
 * `synchronous` is FULL: a step recorded as delivered stays so after a power failure, and with transactions of thousands
 * of bookings the cost is not measurable.
 *
 * @throws LedgerUnusableError if no file can be created there, or the existing one is not a ledger that this version
 * knows; such a file is left unchanged
 */
export function openLedgerFile(path: string, options: LedgerFileOptions) {
  return refuseUnusable(path, () => open(path, options));
}

function open(path: string, { isReader, isUnlinked, busyTimeoutMs = 15_000 }: LedgerFileOptions) {
  makePlace(path);
  const locks = `${path}.locks`;
  const hasLog = !isLogEmpty(path);
  const database = openDatabase(path, { busyTimeoutMs });
  let checkpointer: ReturnType<typeof tryLock>;
  let isClosed = false;
  // Closing would move what the WAL holds into the file, which may be another one.
  let mayClose = !hasLog;
  function end(): void {
    if (mayClose) database.close();
    checkpointer?.release();
  }
  try {
    database.exec('PRAGMA page_size = 8192');
    // Checked before anything is changed: the file may belong to another program.
    readSchema(database, path);
    restrictToOwner(path);
    // Only one of several processes on a ledger checkpoints the WAL: SQLite 3.45 has a bug when two do.
    if (!isReader || hasLog) checkpointer = tryLock(locks, 'checkpoint');
    if (hasLog && checkpointer) refuseDamage(path, database);
    if (isReader) {
      checkpointer?.release();
      checkpointer = undefined;
    }
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    database.exec('PRAGMA foreign_keys = ON');
    // Overwrites what is blanked or pruned: guest names would otherwise remain in free pages.
    database.exec('PRAGMA secure_delete = ON');
    database.exec(`PRAGMA wal_autocheckpoint = ${checkpointer ? 1000 : 0}`);
    // A new ledger is in the file at once, not only in the WAL: the file is looked at.
    if (migrate(database, path) && checkpointer) database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    refuseOtherLog(path, database);
    mayClose = true;
  } catch (error) {
    end();
    throw error;
  }
  const watch = isUnlinked ? unwatched : createFileWatch(path, database);
  const parts = {
    database,
    path,
    isCheckpointer() {
      // The process that did the checkpoints may have ended.
      checkpointer ??= tryLock(locks, 'checkpoint');
      return checkpointer !== undefined;
    },
    isHeld(day: string) {
      const lock = tryLock(locks, nameOfHeldDay(day));
      lock?.release();
      return lock === undefined;
    },
    dropLog() {
      database.exec(`PRAGMA busy_timeout = ${checkpointTimeoutMs}`);
      try {
        database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } finally {
        database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
      }
      return isLogEmpty(path);
    },
  };
  return {
    database,
    /** The folder of this file's locks. */
    locks,
    watch,
    noteRemoval: (at: number) => noteRemoval(database, at),
    /** See `createRetention`. */
    clearRemains(limits: RewriteLimits) {
      watch.expectSameFile();
      return clearRemains(parts, limits);
    },
    /** Leaves nothing of what was removed, if this process does the checkpoints and nobody else is using the file. */
    close(): void {
      if (isClosed) return;
      isClosed = true;
      mayClose = watch.isOurs();
      try {
        if (!isReader && mayClose) clearRemains(parts, quickRewrite);
      } catch {
        // What was recorded is safe in the WAL, and whoever opens the file next checkpoints it.
      } finally {
        end();
      }
    },
  };
}

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
function restrictToOwner(path: string): void {
  if ((statSync(path).mode & 0o077) === 0) return;
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
}

/** Runs the work. Failures caused by the path, or by what is there, become errors that say what to fix. */
export function refuseUnusable<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const why = explainNoRoom(error, path);
    if (why !== undefined) throw new LedgerFullError(path, { why, cause: error });
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

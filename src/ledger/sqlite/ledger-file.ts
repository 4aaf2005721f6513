import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { quickRewrite, type Remains, type RewriteLimits } from '../retention.js';
import { clearRemains, isLogEmpty, noteRemoval } from './clear-remains.js';
import { type Database, isBusy, openDatabase } from './database.js';
import { makePlace, refuseUnusable, restrictToOwner } from './ledger-place.js';
import { migrate, readSchema } from './schema.js';

/** Two processes that try at the same instant can block each other: the timeout lets one of them win. */
const usualTimeoutMs = 250;

/** A lock that nothing else refers to must not end because the garbage collector closes its file. */
const held = new Set<Database>();

/**
 * A lock that the kernel holds for this process: an exclusive transaction on an empty side file. It ends with the
 * process, however that happens, so a dead owner's day is free at once.
 */
export function tryLock(
  folder: string,
  name: string,
  busyTimeoutMs = usualTimeoutMs,
): { release(): void } | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = openDatabase(join(folder, `${name}.lock`), { busyTimeoutMs });
  try {
    database.exec('BEGIN EXCLUSIVE');
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

/** How long a write waits for another process's write: far longer than any of our transactions takes. */
const busyTimeoutMs = 15_000;

export interface LedgerFile {
  readonly database: Database;
  /** The folder of this file's locks. */
  readonly locks: string;
  noteRemoval(at: number): void;
  /** See `createRetention`. */
  clearRemains(limits: RewriteLimits): Remains | undefined;
  /** Leaves nothing of what was removed, if this process does the checkpoints and nobody else is using the file. */
  close(): void;
}

/**
 * Opens the ledger's file, creates it if there is none, and brings its schema up to date.
 *
 * `synchronous` is FULL: a step recorded as delivered stays so after a power failure, and with transactions of thousands
 * of bookings the cost is not measurable.
 *
 * @throws LedgerUnusableError if no file can be created there, or the existing one is not a ledger that this version
 * knows; such a file is left unchanged
 */
export function openLedgerFile(path: string, options: { readonly isReader: boolean }): LedgerFile {
  return refuseUnusable(path, () => open(path, options));
}

function open(path: string, { isReader }: { readonly isReader: boolean }): LedgerFile {
  makePlace(path);
  const locks = `${path}.locks`;
  const database = openDatabase(path, { busyTimeoutMs });
  let checkpointer: ReturnType<typeof tryLock>;
  let isClosed = false;
  function end(): void {
    database.close();
    checkpointer?.release();
  }
  try {
    database.exec('PRAGMA page_size = 8192');
    // Checked before anything is changed: the file may belong to another program.
    readSchema(database, path);
    restrictToOwner(path);
    // Only one of several processes on a ledger checkpoints the WAL: SQLite 3.45 has a bug when two do.
    if (!isReader) checkpointer = tryLock(locks, 'checkpoint');
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    database.exec('PRAGMA foreign_keys = ON');
    // Overwrites what is blanked or pruned: guest names would otherwise remain in free pages.
    database.exec('PRAGMA secure_delete = ON');
    database.exec(`PRAGMA wal_autocheckpoint = ${checkpointer ? 1000 : 0}`);
    migrate(database, path);
  } catch (error) {
    end();
    throw error;
  }
  const parts = {
    database,
    path,
    isCheckpointer() {
      // The process that did the checkpoints may have ended.
      checkpointer ??= tryLock(locks, 'checkpoint', 0);
      return checkpointer !== undefined;
    },
    dropLog() {
      database.exec(`PRAGMA busy_timeout = ${usualTimeoutMs}`);
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
    locks,
    noteRemoval: (at) => noteRemoval(database, at),
    clearRemains: (limits) => clearRemains(parts, limits),
    close() {
      if (isClosed) return;
      isClosed = true;
      try {
        if (!isReader) clearRemains(parts, quickRewrite);
      } catch {
        // What was recorded is safe in the WAL, and whoever opens the file next checkpoints it.
      } finally {
        end();
      }
    },
  };
}

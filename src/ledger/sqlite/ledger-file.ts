import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, isBusy, openDatabase } from './database.js';
import { closeToOthers, makePlace, refuseUnusable } from './ledger-place.js';
import { migrate, readSchema } from './schema.js';

/** Of two that try at the same instant, each can be in the other's way: the pause lets one of them have it. */
const usualTimeoutMs = 250;

/**
 * A lock that the kernel holds for this process: an exclusive transaction on an empty side file. It ends with the
 * process, however that ends, so a dead owner's day is free at once.
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
  let isHeld = true;
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

/** How long a write waits for another process's: far longer than any transaction of ours takes. */
const busyTimeoutMs = 15_000;

export interface LedgerFile {
  readonly database: Database;
  /** The folder of the locks that go with this file. */
  readonly locks: string;
  close(): void;
}

/**
 * Opens the ledger's file, makes it where there is none, and brings its schema up to date.
 *
 * `synchronous` is FULL: a step that is recorded as delivered stays so when the power fails, and with transactions of
 * thousands of bookings it costs nothing that can be measured (docs/decisions.md).
 *
 * @throws LedgerUnusableError when no file can be made there, or the one that is there is not a ledger that this
 * version knows; such a file is left as it was
 */
export function openLedgerFile(path: string, options: { readonly isReader: boolean }): LedgerFile {
  return refuseUnusable(path, () => open(path, options));
}

function open(path: string, { isReader }: { readonly isReader: boolean }): LedgerFile {
  makePlace(path);
  const locks = `${path}.locks`;
  const database = openDatabase(path, { busyTimeoutMs });
  let checkpointer: ReturnType<typeof tryLock>;
  function close(): void {
    database.close();
    checkpointer?.release();
  }
  try {
    database.exec('PRAGMA page_size = 8192');
    // Before anything is changed: the file may be another program's.
    readSchema(database, path);
    closeToOthers(path);
    // Of several processes on one ledger a single one writes the WAL back: SQLite 3.45 has a fault where two do.
    checkpointer = isReader ? undefined : tryLock(locks, 'checkpoint');
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    database.exec('PRAGMA foreign_keys = ON');
    // What is blanked or pruned is overwritten, not only given up: guests' names would stay in free pages.
    database.exec('PRAGMA secure_delete = ON');
    database.exec(`PRAGMA wal_autocheckpoint = ${checkpointer ? 1000 : 0}`);
    migrate(database, path);
  } catch (error) {
    close();
    throw error;
  }
  return { database, locks, close };
}

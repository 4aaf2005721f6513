import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Database, openDatabase } from './database.js';
import { tryLock } from './day-lock.js';
import { migrate } from './schema.js';

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
 * @throws Error when the file was written by a newer version of this program
 */
export function openLedgerFile(path: string, { isOnlooker }: { readonly isOnlooker: boolean }): LedgerFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  createForOwnerAlone(path);
  const locks = `${path}.locks`;
  const database = openDatabase(path, { busyTimeoutMs });
  // Of several processes on one ledger a single one writes the WAL back: SQLite 3.45 has a fault where two do.
  const checkpointer = isOnlooker ? undefined : tryLock(locks, 'checkpoint');
  function close(): void {
    database.close();
    checkpointer?.release();
  }
  try {
    database.exec('PRAGMA page_size = 8192');
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    database.exec('PRAGMA foreign_keys = ON');
    // What is blanked or pruned is overwritten, not only given up: guests' names would stay in free pages.
    database.exec('PRAGMA secure_delete = ON');
    database.exec(`PRAGMA wal_autocheckpoint = ${checkpointer ? 1000 : 0}`);
    migrate(database);
  } catch (error) {
    close();
    throw error;
  }
  return { database, locks, close };
}

/**
 * Guest names lie here: the file is made for its owner alone before SQLite writes to it. One that exists is not even
 * opened, for to close it again would drop the locks that another connection of this process holds on it, and the
 * next process to leave would then remove the WAL under that connection's hands.
 */
function createForOwnerAlone(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  chmodSync(path, 0o600);
}

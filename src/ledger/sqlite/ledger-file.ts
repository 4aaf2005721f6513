import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { explainNoRoom } from '../../base/disk-room.js';
import { formatBytes } from '../../base/format.js';
import { codeOf } from '../../base/safe-error.js';
import { DatabaseBusyError, LedgerFullError, LedgerUnusableError } from '../errors.js';
import { nameOfHeldDay, quickRewrite, type Remains, type RewriteLimits } from '../guests.js';
import { type LedgerIdentity, ledgerIdentity } from '../identity.js';
import { createTables, expectKnown } from '../ledger.js';
import { toRow } from '../query.js';
import { adviseOnFile, type Database, describeDamage, isBusy, openDatabase } from './database.js';

/** A lock that nothing else refers to must not end because the garbage collector closes its file. */
const held = new Set<Database>();

/**
 * Takes a lock without waiting; undefined if somebody else has it. The kernel holds it for this process, as the right to
 * write an empty side file. It ends with the process, however that happens, so a dead owner's day is free at once.
 */
export function tryLock(folder: string, name: string): { release(): void } | undefined {
  const path = join(folder, `${name}.lock`);
  // With a file that we may only read, SQLite would begin to read, and several would have the lock.
  makeFile(path);
  const database = openDatabase(path, { busyTimeoutMs: 0 });
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

/**
 * Opens the ledger's file, creates it if there is none, and brings its schema up to date.
 *
 * `synchronous` is FULL: a step recorded as delivered stays so after a power failure, and with transactions of thousands
 * of bookings the cost is not measurable.
 *
 * @throws LedgerUnusableError if no file can be created there, or the existing one is not a ledger that this version
 * knows; such a file is left unchanged
 */
export function openLedgerFile(path: string, options: Parameters<typeof open>[1]) {
  return refuseUnusable(path, () => open(path, options));
}

function open(
  path: string,
  {
    isReader,
    isUnlinked,
    busyTimeoutMs = 15_000,
  }: {
    readonly isReader: boolean;
    /** How long it waits while another process writes. Default 15,000: far longer than any of our transactions takes. */
    readonly busyTimeoutMs?: number | undefined;
    /** Its file is removed once it is open. */
    readonly isUnlinked?: true | undefined;
  },
) {
  makeFile(path);
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

/** Marks the file as a ledger: the letters `hotl`. */
const applicationId = 0x68_6f_74_6c;

/** Scripts, one for each version; the database's `user_version` counts those that were applied. */
export const versions: readonly string[] = [
  `PRAGMA application_id = ${applicationId};
  ${createTables({
    rowNumber: 'integer PRIMARY KEY',
    types: { integer: 'integer', bigint: 'integer', text: 'text', bytes: 'blob', clocktime: 'integer' },
    randomText: 'lower(hex(randomblob(16)))',
    tableOptions: (isItsIndex) => ` STRICT${isItsIndex ? ', WITHOUT ROWID' : ''}`,
  })}
  CREATE UNIQUE INDEX mappings_by_hotel ON mappings (provider_name, provider_hotel_id);
  CREATE INDEX contents_by_hotel ON hotel_contents (load, service_id);
  CREATE INDEX case_bookings_by_reference ON case_bookings (reference) WHERE reference IS NOT NULL`,
];

/**
 * Brings the schema up to date. Returns whether there was something to do.
 *
 * @param path of the database, for messages
 * @throws LedgerUnusableError like `readSchema`
 */
function migrate(database: Database, path: string): boolean {
  if (readSchema(database, path) === versions.length) return false;
  database.transact(() => {
    for (const version of versions.slice(readSchema(database, path))) database.exec(version);
    database.exec(`PRAGMA user_version = ${versions.length}`);
  });
  return true;
}

/**
 * Returns the version of the database's schema, 0 for an empty one. Changes nothing.
 *
 * @throws LedgerUnusableError if an older or newer version of this program, or a different program, created it
 */
function readSchema(database: Database, path: string): number {
  // One statement, so that no other process can migrate between the reads.
  const found = database.get(
    `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) AS things
     FROM pragma_application_id, pragma_user_version`,
  );
  const version = Number(found?.user_version);
  if (version === 0 && found?.things === 0) return 0;
  if (found?.application_id !== applicationId) {
    throw new LedgerUnusableError(
      path,
      'expected a ledger or no file, got: a database of another program; name another file with the setting ledger',
    );
  }
  expectKnown(version, versions.length, path);
  return version;
}

/** The system's codes for an unsuitable path. A full or broken disk is different: that is temporary. */
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
export function makeFile(path: string): void {
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

/*
 * SQLite does not notice when its file is moved, deleted or overwritten by another program: it continues with the file that it opened and
 * with what the WAL holds, and nobody else ever sees what it writes. So the file is looked at past SQLite.
 */

/** Another process may be writing the looked-at pages into the file just then. */
const looks = 4;
const pauseMs = 400;

/** For a file that is unlinked while it is open. */
const unwatched: ReturnType<typeof createFileWatch> = {
  expectSameFile() {},
  isOurs: () => true,
  async verify() {},
};

/** Watches the file of an open database. */
function createFileWatch(path: string, database: Database) {
  const opened = findFile(path);
  let known = lookIntoFile(path, database);
  let lost: LedgerUnusableError | undefined;

  function lose(got: string): LedgerUnusableError {
    lost ??= new LedgerUnusableError(
      path,
      `expected the file that this process opened, got: ${got}; nothing more is recorded; ${adviseOnFile(path)}`,
    );
    return lost;
  }

  function expectSameFile(): void {
    if (lost) throw lost;
    const found = findFile(path);
    if (!found) throw lose('no file');
    if (found.dev !== opened?.dev || found.ino !== opened.ino) throw lose('another file');
  }

  /** What is wrong with what the file holds. `unclear` while it can't be read. */
  function judgeContent(): 'same' | 'unclear' | { readonly got: string } {
    const found = lookIntoFile(path, database);
    // A new ledger may be in the WAL alone.
    if (!found) return known ? 'unclear' : 'same';
    const got = describeOther(found, known ?? readIdentity(database));
    if (got !== undefined) return { got };
    known = found;
    return 'same';
  }

  return {
    /** Quick enough for each transaction. @throws LedgerUnusableError */
    expectSameFile,
    /** Looks once, before it is closed: what the WAL holds must not be moved into a file of others. */
    isOurs(): boolean {
      try {
        expectSameFile();
      } catch {
        return false;
      }
      const judged = judgeContent();
      return judged === 'same' || judged === 'unclear';
    },
    /** Looks into the file, too. @throws LedgerUnusableError */
    async verify(): Promise<void> {
      for (let look = 1; ; look += 1) {
        expectSameFile();
        // A newer version may have changed it meanwhile.
        readSchema(database, path);
        const judged = judgeContent();
        if (judged === 'same') return;
        if (look === looks) throw lose(judged === 'unclear' ? 'a file without this ledger' : judged.got);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
  };
}

/**
 * Compares a database that was just opened with its file, of which the WAL may hold a later state: the WAL beside it may be that of
 * another one.
 *
 * @throws LedgerUnusableError
 */
function refuseOtherLog(path: string, database: Database): void {
  const withLog = readIdentity(database);
  const got = withLog && describeOther(withLog, lookIntoFile(path, database));
  if (got === undefined) return;
  throw new LedgerUnusableError(
    path,
    `expected ${path}-wal to belong to it, got: that of ${got}; ${adviseOnFile(path)}`,
  );
}

/** A larger file would keep people waiting for too long. */
const checkedBytes = 500_000_000;

/**
 * Checks a database whose last process did not close it: the WAL that it left may lie beside another file now, and SQLite would mix the
 * pages of both.
 *
 * @throws LedgerUnusableError
 */
function refuseDamage(path: string, database: Database): void {
  if ((findFile(path)?.size ?? 0) > checkedBytes) return;
  const found = database.get('PRAGMA integrity_check(1)')?.integrity_check;
  if (found !== 'ok') throw new LedgerUnusableError(path, describeDamage(path));
}

/** What a file is, if it is not a later state of the known ledger. */
function describeOther(found: LedgerIdentity, known: LedgerIdentity | undefined): string | undefined {
  if (!known) return undefined;
  if (found.id !== known.id) return 'another ledger';
  return found.changes < known.changes ? 'an older copy of this ledger' : undefined;
}

function findFile(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function readIdentity(database: Database, from = 'main'): LedgerIdentity | undefined {
  const row = database.get(`SELECT id, changes FROM ${from}.ledger_identity`);
  return row && ledgerIdentity.read(toRow(row));
}

/**
 * What the file itself holds, without the WAL; undefined if it can't be read. The connection attaches it: closing a descriptor of our own
 * would drop the locks of all connections of this process, and a connection of its own stays open until the garbage is collected.
 */
function lookIntoFile(path: string, database: Database): LedgerIdentity | undefined {
  let isAttached = false;
  try {
    const url = `${pathToFileURL(path).href.replaceAll("'", '%27')}?mode=ro&immutable=1`;
    database.exec(`ATTACH '${url}' AS on_disk`);
    isAttached = true;
    const found = readIdentity(database, 'on_disk');
    return found && /^[0-9a-f]{32}$/.test(found.id) ? found : undefined;
  } catch {
    return undefined;
  } finally {
    if (isAttached) database.exec('DETACH on_disk');
  }
}

/*
 * `secure_delete` overwrites a row where it is. But where SQLite has moved rows to another page before, their old bytes stay
 * in the unused part of a page, and until a checkpoint also in the file and the WAL. Only rewriting the file removes them
 * all, so a removal is noted in the ledger until that was done, by whichever process does it.
 */

/** The name in `noted_instants` of the last removal that bytes may remain of. */
export const removalName = 'data-removed';

interface ClearParts {
  readonly database: Database;
  readonly path: string;
  /** Whether this process does the checkpoints, or does them from now on. */
  readonly isCheckpointer: () => boolean;
  /** Whether a live process holds that day. */
  readonly isHeld: (day: string) => boolean;
  /** Moves what is in the WAL into the file and empties the WAL; false if somebody was reading. */
  readonly dropLog: () => boolean;
}

/** Rewrites the file if data was removed from it and nobody is kept waiting; says what is left otherwise. */
export function clearRemains(parts: ClearParts, { atMostBytes }: RewriteLimits): Remains | undefined {
  const { database, path, isCheckpointer, dropLog } = parts;
  const noted = findRemoval(database);
  if (!isCheckpointer()) return noted === undefined ? undefined : leaveToOther(path);
  if (noted === undefined) {
    dropLog();
    return undefined;
  }
  try {
    return clearNoted(parts, noted, atMostBytes);
  } catch (error) {
    // The guest is erased: whatever happens here, people get their receipt.
    return isBusy(error) ? left.read : left.failed(codeOf(error) ?? 'unknown');
  }
}

function clearNoted(
  { database, path, dropLog, isHeld }: ClearParts,
  noted: number,
  atMostBytes: number | undefined,
): Remains | undefined {
  if (!dropLog()) return left.read;
  // One that only awaits its result writes little, and waits; one whose process has ended may wait for ever.
  const runs = database.all(`SELECT day FROM runs WHERE state IN ('collecting', 'delivering')`);
  const busy = runs.map(({ day }) => String(day)).find(isHeld);
  if (busy !== undefined) return left.run(busy);
  // The log was moved into it.
  const { size } = statSync(path);
  if (isLarge(size, atMostBytes)) return left.large(size);
  if (freeBytes(path) < 2 * size) return left.full(size);
  try {
    rewrite(database, path);
  } catch (error) {
    if (error instanceof LedgerFullError) return left.full(size);
    throw error;
  }
  if (!dropLog()) return left.read;
  forget(database, noted);
  dropLog();
  return undefined;
}

/** The other process keeps nobody waiting either. */
function leaveToOther(path: string): Remains {
  const { size } = statSync(path);
  return isLarge(size, quickRewrite.atMostBytes) ? left.large(size) : left.elsewhere;
}

function isLarge(size: number, atMostBytes: number | undefined): boolean {
  return atMostBytes !== undefined && size > atMostBytes;
}

function findRemoval(database: Database): number | undefined {
  const row = database.get('SELECT at FROM noted_instants WHERE name = ?', removalName);
  return row && Number(row.at);
}

/** Failing to forget only means that the file is rewritten once more. */
function forget(database: Database, noted: number): void {
  try {
    database.transact(() =>
      database.run('DELETE FROM noted_instants WHERE name = ? AND at = ?', removalName, noted),
    );
  } catch (error) {
    if (!(error instanceof DatabaseBusyError)) throw error;
  }
}

/** The temporary copy holds what the ledger holds, so it lies beside it, not in memory or where others keep theirs. */
function rewrite(database: Database, path: string): void {
  database.exec('PRAGMA temp_store = FILE');
  database.exec(`PRAGMA temp_store_directory = '${dirname(path).replaceAll("'", "''")}'`);
  try {
    database.exec('VACUUM');
  } finally {
    database.exec("PRAGMA temp_store_directory = ''");
    database.exec('PRAGMA temp_store = DEFAULT');
  }
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}

/** @param path of the database */
function isLogEmpty(path: string): boolean {
  const log = `${path}-wal`;
  return !existsSync(log) || statSync(log).size === 0;
}

const nextCleanUp = 'the clean-up after the next run, or guest purge';

const left = {
  elsewhere: {
    why: 'another process, such as serve, has the ledger open',
    until: 'that process cleans up after its next run, or stops',
  },
  read: { why: 'another process was using the ledger', until: nextCleanUp },
  run: (day: string) => ({
    why: `the run of ${day} is being worked on`,
    until: `the clean-up after it, or guest purge then`,
  }),
  large: (size: number) => ({
    why: `rewriting ${formatBytes(size)} would keep others waiting`,
    until: 'guest purge, while no other process has the ledger open and no run is due',
  }),
  failed: (code: string) => ({
    why: `rewriting the file failed (${code})`,
    until: nextCleanUp,
  }),
  full: (size: number) => ({
    why: `rewriting the file takes ${formatBytes(2 * size)} of free disk, and there is less`,
    until: `there is room, and then ${nextCleanUp}`,
  }),
};

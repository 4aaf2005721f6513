import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatBytes } from '../../base/format.js';
import { codeOf } from '../../base/safe-error.js';
import { DatabaseBusyError, LedgerFullError } from '../errors.js';
import { quickRewrite, type Remains, type RewriteLimits } from '../retention.js';
import { type Database, isBusy } from './database.js';

/*
 * `secure_delete` overwrites a row where it is. But where SQLite has moved rows to another page before, their old bytes stay
 * in the unused part of a page, and until a checkpoint also in the file and the WAL. Only rewriting the file removes them
 * all, so a removal is noted in the ledger until that was done, by whichever process does it.
 */

/** The name in `noted_instants` of the last removal that bytes may remain of. */
const removal = 'data-removed';

/** Each note differs from the one before, so that a removal during a rewrite stays noted. */
export function noteRemoval(database: Database, at: number): void {
  database.transact(() => {
    database.run(
      `INSERT INTO noted_instants (name, at) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET at = max(excluded.at, at + 1)`,
      removal,
      at,
    );
  });
}

export interface ClearParts {
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
  const row = database.get('SELECT at FROM noted_instants WHERE name = ?', removal);
  return row && Number(row.at);
}

/** Failing to forget only means that the file is rewritten once more. */
function forget(database: Database, noted: number): void {
  try {
    database.transact(() =>
      database.run('DELETE FROM noted_instants WHERE name = ? AND at = ?', removal, noted),
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
export function isLogEmpty(path: string): boolean {
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

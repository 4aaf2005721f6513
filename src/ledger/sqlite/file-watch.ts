import { type Stats, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { LedgerUnusableError } from '../errors.js';
import { type LedgerIdentity, ledgerIdentity } from '../identity.js';
import { adviseOnFile, type Database, describeDamage, type Row } from './database.js';

/*
 * SQLite does not notice when its file is moved, deleted or overwritten by another program: it goes on with the file that it opened and
 * with what the WAL holds, and nobody else ever sees what it writes. So the file is looked at past SQLite.
 */

/** Another process may be writing the looked-at pages into the file just then. */
const looks = 4;
const pauseMs = 400;

export interface FileWatch {
  /** Quick enough for each transaction. @throws LedgerUnusableError */
  expectSameFile(): void;
  /** Looks once, before it is closed: what the WAL holds must not be moved into a file of others. */
  isOurs(): boolean;
  /** Looks into the file, too. @throws LedgerUnusableError */
  verify(): Promise<void>;
}

/** For a file that is unlinked while it is open. */
export const unwatched: FileWatch = { expectSameFile() {}, isOurs: () => true, async verify() {} };

/** Watches the file of an open database. */
export function createFileWatch(path: string, database: Database): FileWatch {
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
    expectSameFile,
    isOurs(): boolean {
      try {
        expectSameFile();
      } catch {
        return false;
      }
      const judged = judgeContent();
      return judged === 'same' || judged === 'unclear';
    },
    async verify(): Promise<void> {
      for (let look = 1; ; look += 1) {
        expectSameFile();
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
export function refuseOtherLog(path: string, database: Database): void {
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
export function refuseDamage(path: string, database: Database): void {
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
  const row: Row | undefined = database.get(`SELECT id, changes FROM ${from}.ledger_identity`);
  return row && ledgerIdentity.read(row);
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

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '../../src/ledger/ledger.js';
import { type Database, openDatabase } from '../../src/ledger/sqlite/database.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import { createKeyFolder } from '../../src/storage/day-keys.js';
import { at } from '../contracts/ledger/days.js';
import type { OpenedLedger } from '../contracts/ledger.js';

export interface OpenedSqliteLedger extends OpenedLedger {
  readonly path: string;
  /** Opens the database directly, bypassing the ledger. */
  openRaw(): Database;
}

/** A ledger in a new folder. */
export async function openSqliteLedger({
  isEncrypted = false,
  hashKey,
}: {
  readonly isEncrypted?: boolean;
  readonly hashKey?: string | undefined;
} = {}): Promise<OpenedSqliteLedger> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  const path = join(folder, 'data', 'ledger.db');
  const ledgers: Ledger[] = [];
  const databases: Database[] = [];
  let now = at;
  const open = () => {
    const keys = isEncrypted ? createKeyFolder(join(folder, 'keys')) : undefined;
    const ledger = createSqliteLedger({ path, clock: () => now, keys, hashKey });
    ledgers.push(ledger);
    return ledger;
  };
  return {
    path,
    ledger: open(),
    openRaw() {
      const database = openDatabase(path, { busyTimeoutMs: 0 });
      databases.push(database);
      return database;
    },
    reopen: async () => open(),
    async endLeases() {
      now += 30_000;
    },
    async readSteps(runId) {
      const raw = openDatabase(path, { busyTimeoutMs: 0 });
      const rows = raw.all(
        'SELECT steps.* FROM steps JOIN runs ON run = number WHERE id = ? ORDER BY position, name',
        runId,
      );
      raw.close();
      return rows;
    },
    async cleanUp() {
      for (const database of databases) database.close();
      for (const ledger of ledgers) await ledger.close();
      rmSync(folder, { recursive: true });
    },
  };
}

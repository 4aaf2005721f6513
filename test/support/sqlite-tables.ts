import { expect } from 'vitest';
import { openLedgerFile } from '../../src/ledger/sqlite/ledger-file.js';
import type { LedgerTables } from './ledger-tables.js';

/** Opens the ledger, and makes it where there is none yet. */
export function openSqliteTables(path: string): LedgerTables {
  const { database, close } = openLedgerFile(path, { isOnlooker: true });
  return {
    rows: async (sql) => database.all(sql),
    hold: async () => database.exec('BEGIN IMMEDIATE'),
    release: async () => database.exec('ROLLBACK'),
    async expectSound() {
      expect(database.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      expect(database.all('PRAGMA foreign_key_check')).toEqual([]);
    },
    close: async () => close(),
  };
}

import { rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ledger } from '../src/ledger/ledger.js';
import { createPostgresLedger } from '../src/ledger/postgres/postgres-ledger.js';
import { createSqliteLedger } from '../src/ledger/sqlite/sqlite-ledger.js';

import { startPostgres } from '../test/support/postgres.js';
import { makeTemporaryFolder } from './harness/environment.js';

export type DatabaseKind = 'sqlite' | 'postgres';

export const databaseTitles: Readonly<Record<DatabaseKind, string>> = {
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
};

/** An empty ledger to be filled: a file, or a database in a server of its own. It lasts until this process exits. */
export interface LedgerPlace {
  /** The setting that points to it. */
  readonly url: string;
  open(): Ledger;
  /** After it was filled: from now on acknowledged writes are on disk, and the statistics are those of a database in use. */
  settle(): Promise<void>;
  measureBytes(): Promise<number>;
  remove(): Promise<void>;
}

export function makeLedgerPlace(kind: DatabaseKind): Promise<LedgerPlace> {
  return kind === 'sqlite' ? makeFile() : makeDatabase();
}

const options: Pick<Parameters<typeof createSqliteLedger>[0], 'clock'> = {
  clock: Date.now,
};

async function makeFile(): Promise<LedgerPlace> {
  const folder = makeTemporaryFolder();
  const path = join(folder.path, 'ledger.db');
  return {
    url: `sqlite:${path}`,
    open: () => createSqliteLedger({ path, ...options }),
    settle: async () => {},
    measureBytes: async () => (await stat(path)).size,
    remove: async () => folder.remove(),
  };
}

async function makeDatabase(): Promise<LedgerPlace> {
  const postgres = await startPostgres();
  const { folder, query } = postgres;
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', removeFolder);
  const url = await postgres.createDatabase();
  return {
    url,
    open: () => createPostgresLedger({ url, connections: 20, ...options }),
    async settle() {
      for (const statement of ["ALTER SYSTEM SET fsync = 'on'", 'VACUUM ANALYZE', 'CHECKPOINT'])
        await query(url, statement);
    },
    async measureBytes() {
      const [row] = await query(url, 'SELECT pg_database_size(current_database()) AS bytes');
      return Number(row?.bytes);
    },
    async remove() {
      process.removeListener('exit', removeFolder);
      await postgres.remove();
    },
  };
}

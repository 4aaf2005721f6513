import pg from 'pg';
import type { LedgerTables } from './ledger-tables.js';

/** Opens the ledger in that database, which must be there. It connects when it is first used. */
export function openPostgresTables(url: string): LedgerTables {
  let connecting: Promise<pg.Client> | undefined;

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url, options: '-c search_path=hotel_review' });
    await client.connect();
    return client;
  }

  async function query(sql: string) {
    connecting ??= connect();
    return (await connecting).query(sql);
  }

  return {
    rows: async (sql) => (await query(sql)).rows,
    async hold() {
      await query('BEGIN');
      // Whoever writes locks the run's row first; to look at it stays free.
      await query('LOCK TABLE runs IN EXCLUSIVE MODE');
    },
    release: async () => void (await query('ROLLBACK')),
    // The server, unlike the processes, is not killed: what it took for good stays sound.
    expectSound: async () => {},
    close: async () => (await connecting)?.end(),
  };
}

import pg from 'pg';
import type { Ledger, ReadOnlyLedger } from '../../src/ledger/ledger.js';
import {
  createPostgresLedger,
  findPostgresLedger,
  type PostgresLedgerOptions,
} from '../../src/ledger/postgres/postgres-ledger.js';
import { at } from '../contracts/ledger/days.js';
import type { OpenedLedger, StepRow } from '../contracts/ledger.js';
import type { Postgres } from '../support/postgres.js';

export interface OpenedPostgresLedger extends OpenedLedger {
  readonly url: string;
  /** Another ledger on the same database, with its own settings. */
  open(options?: Partial<PostgresLedgerOptions>): Ledger;
  /** The same ledger for reading, as `findPostgresLedger` finds it. */
  find(options?: { readonly waits: boolean }): Promise<ReadOnlyLedger | undefined>;
  /** Runs statements directly, bypassing the ledger. */
  query(sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]>;
}

/** Emptied databases. Dropping the tables and creating them again would take longer than most tests. */
const emptied = new WeakMap<Postgres, string[]>();

/** Leaves a database as its first ledger made it; what migrations wrote stays. */
const emptyTables = `DO $$ DECLARE name text; BEGIN
  SET LOCAL session_replication_role = replica;
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'hotel_review' LOOP
    CONTINUE WHEN name IN ('schema_versions', 'ledger_identity', 'watched_moves');
    EXECUTE format('DELETE FROM hotel_review.%I', name);
  END LOOP;
  IF to_regclass('hotel_review.watched_moves') IS NOT NULL THEN
    UPDATE hotel_review.ledger_identity SET changes = 0;
    UPDATE hotel_review.watched_moves SET last_move = 0;
  END IF;
  FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'hotel_review' AND last_value IS NOT NULL LOOP
    PERFORM setval(format('hotel_review.%I', name), 1, false);
  END LOOP;
END $$`;

/** A ledger in an empty database, which is given to others afterwards: for tests that leave its schema as it is. */
export async function openPostgresLedger(
  postgres: Postgres,
  options: Partial<PostgresLedgerOptions> = {},
): Promise<OpenedPostgresLedger> {
  const databases = emptied.get(postgres) ?? [];
  emptied.set(postgres, databases);
  const url = databases.pop() ?? (await postgres.createDatabase());
  return openIn(url, options, async (query) => {
    await query(emptyTables);
    databases.push(url);
  });
}

/** A ledger in a database without a schema. */
export async function openNewPostgresLedger(postgres: Postgres): Promise<OpenedPostgresLedger> {
  const url = await postgres.createDatabase();
  return openIn(url, {}, () => postgres.giveBack(url));
}

function openIn(
  url: string,
  options: Partial<PostgresLedgerOptions>,
  leave: (query: OpenedPostgresLedger['query']) => Promise<void>,
): OpenedPostgresLedger {
  // One connection for all that bypasses the ledger; after a restart of the server, another one.
  const connection = new pg.Pool({ connectionString: url, max: 1 });
  connection.on('error', () => {});
  const query = async (sql: string, ...values: unknown[]) => (await connection.query(sql, values)).rows;
  const ledgers: ReadOnlyLedger[] = [];
  const open = (changes: Partial<PostgresLedgerOptions> = {}) => {
    const ledger = createPostgresLedger({ url, clock: () => at, ...options, ...changes });
    ledgers.push(ledger);
    return ledger;
  };
  return {
    url,
    ledger: open(),
    open,
    async find(options) {
      const reader = await findPostgresLedger({ url, ...options });
      if (reader) ledgers.push(reader);
      return reader;
    },
    query,
    reopen: async () => open(),
    async endLeases() {
      for (const table of ['steps', 'workers'])
        await query(`UPDATE hotel_review.${table} SET lease_until = now() WHERE lease_until > now()`);
    },
    readSteps: async (runId) =>
      (await query(
        'SELECT steps.* FROM hotel_review.steps JOIN hotel_review.runs ON run = number WHERE id = $1 ORDER BY position, name',
        runId,
      )) as StepRow[],
    async cleanUp() {
      await Promise.all(ledgers.map((ledger) => ledger.close()));
      await leave(query);
      await connection.end();
    },
  };
}

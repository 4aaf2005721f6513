import { LedgerUnusableError } from '../errors.js';
import { readOnlyServer } from './faults.js';
import { migrations } from './migrations.js';
import type { Session } from './session.js';

/** One lock for all processes that migrate the same database: the letters `hotl`. */
const migrationLock = 0x68_6f_74_6c;

/**
 * Brings the schema up to date. Call it inside a transaction.
 *
 * @param place of the database, for messages
 * @throws LedgerUnusableError if a newer version of this program, or a different program, created it, and if the server
 *   takes no writes
 */
export async function migrate(session: Session, place: string): Promise<void> {
  await requireWritable(session, place);
  if ((await readSchema(session, place)).migrations === migrations.length) return;
  await session.run('SELECT pg_advisory_xact_lock($1)', migrationLock);
  const { migrations: present, isThere } = await readSchema(session, place);
  if (present === migrations.length) return;
  if (!isThere) await session.run('CREATE SCHEMA hotel_review');
  if (present === 0) {
    await session.run(
      'CREATE TABLE hotel_review.migrations (number integer PRIMARY KEY, at timestamptz NOT NULL)',
    );
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < present) continue;
    await session.script(migration);
    await session.run('INSERT INTO hotel_review.migrations (number, at) VALUES ($1, now())', index + 1);
  }
}

/**
 * Returns whether there is a readable ledger. Changes nothing.
 *
 * @throws LedgerUnusableError if this version can't read it, or it is not a ledger
 */
export async function ledgerExists(session: Session, place: string): Promise<boolean> {
  const { migrations: present } = await readSchema(session, place);
  if (present === 0 || present === migrations.length) return present > 0;
  throw new LedgerUnusableError(
    place,
    `expected schema ${migrations.length}, got: schema ${present}, of an older version; start a run with this one, which brings it up to date`,
  );
}

/** @throws LedgerUnusableError if the server is a standby, or its connections only read by default */
export async function requireWritable(session: Session, place: string): Promise<void> {
  // On a standby, this is on whatever the settings say.
  const found = await session.row(`SELECT current_setting('transaction_read_only') AS read_only`);
  if (found?.read_only === 'on') throw new LedgerUnusableError(place, readOnlyServer);
}

interface FoundSchema {
  /** How many migrations were applied. */
  readonly migrations: number;
  /** Whether the schema exists, even if it is empty. */
  readonly isThere: boolean;
}

async function readSchema(session: Session, place: string): Promise<FoundSchema> {
  const found = await session.row(
    `SELECT
       (SELECT count(*)::int FROM pg_namespace WHERE nspname = 'hotel_review') AS schemas,
       (SELECT count(*)::int FROM pg_class WHERE relnamespace = to_regnamespace('hotel_review')) AS things,
       (SELECT count(*)::int FROM pg_class WHERE relnamespace = to_regnamespace('hotel_review')
          AND relkind = 'r' AND relname IN ('migrations', 'runs', 'steps', 'holds')) AS ours,
       current_setting('server_encoding') AS encoding`,
  );
  if (found?.encoding !== 'UTF8') {
    throw new LedgerUnusableError(
      place,
      `expected a database in the encoding UTF8, got: ${String(found?.encoding)}; make one with createdb --encoding UTF8`,
    );
  }
  const isThere = found.schemas === 1;
  if (found.things === 0) return { migrations: 0, isThere };
  if (found.ours !== 4) {
    throw new LedgerUnusableError(
      place,
      'expected a schema hotel_review that is a ledger, or none, got: one of another program; name another database with the setting ledger',
    );
  }
  const count = await session.row('SELECT coalesce(max(number), 0) AS number FROM hotel_review.migrations');
  const present = Number(count?.number);
  if (present > migrations.length) {
    throw new LedgerUnusableError(
      place,
      `expected schema ${migrations.length} or older, got: schema ${present}; install the newer version that wrote it`,
    );
  }
  return { migrations: present, isThere };
}

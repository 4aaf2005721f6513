import { LedgerUnusableError } from '../errors.js';
import { createTables, expectKnown } from '../ledger.js';
import { sql } from '../query.js';
import { readOnlyFault, type Session } from './session.js';

/**
 * Scripts, one for each version; the table `schema_versions` lists those that were applied. Everything is in a schema of
 * its own, so that the ledger can share a database. Texts are compared by their bytes, whatever the database's collation.
 */
export const versions: readonly string[] = [
  `${createTables({
    rowNumber: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    types: {
      integer: 'integer',
      bigint: 'bigint',
      text: 'text COLLATE "C"',
      bytes: 'bytea',
      clocktime: 'timestamptz',
    },
    randomText: "replace(gen_random_uuid()::text, '-', '')",
    tableOptions: () => '',
  })}
  -- By hash: a text can have any length, an index entry can't. Whoever writes mappings holds a lock, so no hotel is inserted twice.
  CREATE INDEX mappings_by_hotel ON mappings USING hash (provider_hotel_id);
  CREATE INDEX contents_by_hotel ON hotel_contents (load, service_id, number);
  CREATE INDEX case_bookings_by_reference ON case_bookings USING hash (reference);
  CREATE INDEX hook_requests_by_time ON hook_requests (at);

  CREATE TABLE schema_versions (
    number integer PRIMARY KEY,
    at timestamptz NOT NULL
  );

  -- Days and permits that a process holds, until it stops renewing them.
  CREATE TABLE holds (
    name text COLLATE "C" PRIMARY KEY,
    holder uuid NOT NULL,
    lease_until timestamptz NOT NULL
  );

  -- An answer may be lost after the server has committed. These tell whether it did.
  ALTER TABLE steps ADD COLUMN claim_id uuid, ADD COLUMN may_repeat integer NOT NULL DEFAULT 0;

  -- Whoever searches the audit trail for a person need not write the name in its case, whatever the language.
  ALTER TABLE audit_trail ALTER COLUMN who TYPE text COLLATE "default";

  -- Hashes don't shrink, and a page is small enough to be stored in the table itself.
  ALTER TABLE booking_pages ALTER COLUMN entries SET STORAGE EXTERNAL;
  -- Blanked and removed rows must leave the disk soon, not only once a fifth of the table is gone.
  ALTER TABLE batches SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 10000
  );
  ALTER TABLE rejects SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
  -- The planner's statistics would keep values that were removed.
  ALTER TABLE batches ALTER COLUMN lines SET STATISTICS 0;
  ALTER TABLE extra_columns ALTER COLUMN columns SET STATISTICS 0;
  ALTER TABLE rejects ALTER COLUMN held SET STATISTICS 0;
  ALTER TABLE attempts ALTER COLUMN answer SET STATISTICS 0;
  -- A few of these rows are updated often: free space in each page keeps their indexes unchanged.
  ALTER TABLE runs SET (fillfactor = 50);
  ALTER TABLE steps SET (fillfactor = 70);
  -- Where the server was built with it, lz4 costs less time than the bytes it saves.
  DO $$
  BEGIN
    ALTER TABLE batches ALTER COLUMN lines SET COMPRESSION lz4;
  EXCEPTION WHEN OTHERS THEN
    NULL;
  END
  $$`,
];

/** One lock for all processes that migrate the same database: the letters `hotl`. */
const migrationLock = 0x68_6f_74_6c;

/**
 * Brings the schema up to date. Call it inside a transaction.
 *
 * @param location of the database, for messages
 * @param mayCreate is asked before a new one is created, and throws if it must not be
 * @throws LedgerUnusableError if an older or newer version of this program, or a different program, created it,
 */
export async function migrate(
  session: Session,
  location: string,
  mayCreate = async (): Promise<void> => {},
): Promise<void> {
  await requireWritable(session);
  if ((await readSchema(session, location)) === versions.length) return;
  await session.run(sql`SELECT pg_advisory_xact_lock(${migrationLock})`);
  const present = await readSchema(session, location);
  if (present === versions.length) return;
  if (present === 0) await mayCreate();
  // An empty one may have been made for us: only a user who may create schemas can say IF NOT EXISTS.
  const found = await session.row(sql`SELECT to_regnamespace('hotel_review') IS NULL AS is_missing`);
  if (found?.isMissing) await session.run(sql`CREATE SCHEMA hotel_review`);
  await session.run(sql`SET LOCAL search_path TO hotel_review`);
  for (const [index, version] of versions.entries()) {
    if (index < present) continue;
    await session.script(version);
    await session.run(sql`INSERT INTO schema_versions (number, at) VALUES (${index + 1}, now())`);
  }
}

/**
 * Returns whether there is a readable ledger. Changes nothing.
 *
 * @throws LedgerUnusableError if this version can't read it, or it is not a ledger
 */
export async function ledgerExists(session: Session, location: string): Promise<boolean> {
  const present = await readSchema(session, location);
  if (present === 0 || present === versions.length) return present > 0;
  throw new LedgerUnusableError(
    location,
    `expected schema ${versions.length}, got: schema ${present}, of an older version; start a run with this one, which brings it up to date`,
  );
}

/**
 * For a process that stays: a newer version may have changed the schema meanwhile.
 *
 * @throws TemporaryFault like `requireWritable`; LedgerUnusableError for none, or a schema that this version does not know
 */
export async function requireUsable(session: Session, location: string): Promise<void> {
  await requireWritable(session);
  if (!(await ledgerExists(session, location)))
    throw new LedgerUnusableError(location, 'expected the ledger that this process opened, got: none');
}

/** @throws TemporaryFault if the server is a standby, or its connections only read by default */
export async function requireWritable(session: Session): Promise<void> {
  // On a standby, this is on whatever the settings say.
  const found = await session.row(sql`SELECT current_setting('transaction_read_only') AS read_only`);
  if (found?.readOnly === 'on') throw readOnlyFault();
}

/** Returns the version of the schema, 0 if there is none. */
async function readSchema(session: Session, location: string): Promise<number> {
  const found = await session.row(
    sql`SELECT
       (SELECT count(*)::int FROM pg_class WHERE relnamespace = to_regnamespace('hotel_review')) AS things,
       (SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class
          WHERE relnamespace = to_regnamespace('hotel_review') AND relkind = 'r'
          AND relname IN ('holds', 'runs', 'schema_versions', 'steps')) AS ours,
       current_setting('server_encoding') AS encoding`,
  );
  if (found?.encoding !== 'UTF8') {
    throw new LedgerUnusableError(
      location,
      `expected a database in the encoding UTF8, got: ${String(found?.encoding)}; make one with createdb --encoding UTF8`,
    );
  }
  if (found.things === 0) return 0;
  if (found.ours !== 'holds runs schema_versions steps') {
    throw new LedgerUnusableError(
      location,
      'expected a schema hotel_review that is a ledger, or none, got: one of another program; name another database with the setting ledger',
    );
  }
  const count = await session.row(sql`SELECT max(number) AS number FROM ${{ tableName: 'schema_versions' }}`);
  const present = Number(count?.number);
  expectKnown(present, versions.length, location);
  return present;
}

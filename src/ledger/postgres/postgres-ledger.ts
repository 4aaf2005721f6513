import { randomUUID } from 'node:crypto';
import type { DayKeys } from '../../storage/day-keys.js';
import type { PeerClock } from '../../transports/http/peer-clocks.js';
import { LedgerUnusableError } from '../errors.js';
import type { Remains } from '../guests.js';
import {
  createLedger,
  createReadOnlyLedger,
  createTables,
  type Engine,
  expectKnown,
  type Ledger,
  type ReadOnlyLedger,
} from '../ledger.js';
import { copied } from '../mappings.js';
import { type Dialect, type Store, sql } from '../query.js';
import { record } from '../run-changes.js';
import { createSealing } from '../sealing.js';
import { after, claim, createHolds, recordAcceptedBatch } from './claims.js';
import { type Database, type DatabaseOptions, openDatabase } from './database.js';
import { readOnlyFault, type Session } from './session.js';

const common: Omit<Dialect, 'sealing' | 'leaseEnd'> = {
  lock: sql`FOR NO KEY UPDATE`,
  lockOf: (table) => sql`FOR NO KEY UPDATE OF ${table}`,
  turnOf: (what) => sql`SELECT pg_advisory_xact_lock(hashtext(${`hotel_review ${what}`}))`,
  // Under 2 KB a page, so that it is stored in the table itself and a look-up reads no more than that.
  pageEntries: 224,
  // `now()` is the time when the transaction started, the same for all of its statements.
  isAbandoned: () => sql`lease_until <= now()`,
  isListed: (column, list) => sql`${column} = ANY (${list.map(String)})`,
  holds: (column, bytes) => sql`position(${bytes}::bytea IN ${column}) > 0`,
  // The limit keeps the plan at one index look-up per hotel, however many rows the planner expects.
  findMappings: (hotels) => sql`SELECT ordinal - 1 AS ordinal, found.* FROM unnest(
      ${hotels.map(({ providerName }) => providerName)}::text[],
      ${hotels.map(({ providerHotelId }) => providerHotelId)}::text[]
    ) WITH ORDINALITY AS asked (provider, hotel, ordinal)
    CROSS JOIN LATERAL (
      SELECT ${copied.names} FROM ${copied} WHERE provider_name = provider AND provider_hotel_id = hotel LIMIT 1
    ) AS found`,
};

/** We can't do it, and can't see when it is done. */
const remains: Remains = {
  why: 'PostgreSQL keeps old versions of rows, and its write-ahead log',
  until: 'it vacuums the tables and reuses the space, by itself or with VACUUM FULL, and recycles the log',
};

/** PostgreSQL as a store of the ledger. */
function createPostgresStore(
  { perform, snapshot, transact }: Database,
  { keys, hashKey }: PostgresReaderOptions,
  leaseMs = 0,
): Store {
  const dialect = { ...common, sealing: createSealing(keys, hashKey), leaseEnd: () => after(leaseMs) };
  const inTransaction: Store['transact'] = (query) =>
    transact((session) => session.perform(query(), dialect));
  return {
    dialect,
    clearRemains: async () => remains,
    read: (query) => perform((session) => session.perform(query(), dialect)),
    readTogether: (query) => snapshot((session) => session.perform(query(), dialect)),
    transact: inTransaction,
    renew: (query) => transact((session) => session.perform(query(), dialect), { isUrgent: true }),
    erase: inTransaction,
    transactUnflushed: inTransaction,
  };
}

const pingTimeoutMs = 1_900;
/** The most that the renewal of a lease may be late. */
const lateRenewalMs = 1_000;

export interface PostgresReaderOptions extends DatabaseOptions {
  /** The keys of what may hold guests' names; without them it is not encrypted. */
  readonly keys?: DayKeys | undefined;
  /** Finds rejected records by hashes under this key. */
  readonly hashKey?: string | undefined;
}

export interface PostgresLedgerOptions extends PostgresReaderOptions {
  readonly clock: () => number;
  /** Called before a ledger is created where there is none; throws if there must be one. */
  readonly mayCreate?: () => Promise<void>;
  /** How long a claim or a held day lasts unless renewed, by the database's clock. */
  readonly leaseMs?: number;
  /** Is told what the answers say about the database's clock. */
  readonly peerClock?: PeerClock | undefined;
}

/**
 * The ledger in a PostgreSQL database, for any number of processes. It connects and migrates the schema on first use.
 * Characters that PostgreSQL or UTF-8 can't store become U+FFFD.
 *
 * Every operation may throw LedgerUnusableError, LedgerAwayError or LedgerFullError.
 *
 * @throws LedgerUnusableError for an address that can't be read
 */
export function createPostgresLedger(options: PostgresLedgerOptions): Ledger {
  const { clock, leaseMs = 30_000, mayCreate, worker } = options;
  const database = openDatabase(options, (session, location) => migrate(session, location, mayCreate));
  const { perform } = database;
  const store = createPostgresStore(database, options, leaseMs);
  const { sealing } = store.dialect;
  const holds = createHolds(database, leaseMs, options.peerClock);
  const engine = {
    ping: () => database.ping(pingTimeoutMs, requireWritable),
    verify: () => perform((session) => requireUsable(session, database.location)),
    hold: holds.take,
    staleHoldMs: leaseMs + lateRenewalMs,
    claims: {
      claim(right, step, attempt, at) {
        const request = { right, step, attempt, at, leaseMs, worker, id: randomUUID() };
        return perform((session, mayBeDone) => claim(session, sealing, request, mayBeDone));
      },
      async record(held, outcome, at, decide) {
        const recorded = await perform((session, mayBeDone) =>
          recordAcceptedBatch(session, sealing, { held, outcome, at }, mayBeDone),
        );
        return recorded ?? store.transact(() => record(held, outcome, at, decide));
      },
    },
    async close() {
      await holds.close();
      await database.close();
    },
  } satisfies Engine;
  return createLedger(store, engine, clock);
}

/**
 * The same ledger, read-only: it creates nothing and migrates nothing. Undefined if there is no ledger yet.
 *
 * @throws LedgerUnusableError when this version can't use it, LedgerAwayError when the server doesn't answer
 */
export async function findPostgresLedger({
  waits = true,
  mustTakeWrites = false,
  ...options
}: PostgresReaderOptions & {
  /** If false, fails within two seconds when the server doesn't answer. */
  readonly waits?: boolean;
  /** Fails if its server could not be written to, such as a standby. */
  readonly mustTakeWrites?: boolean;
}): Promise<ReadOnlyLedger | undefined> {
  const database = openDatabase(options);
  try {
    if (!waits) await database.ping(pingTimeoutMs);
    // Asked once: whoever wants to know has no time to wait for a failover.
    if (mustTakeWrites) await database.perform(requireWritable, { patienceMs: 0 });
    const isThere = await database.perform((session) => ledgerExists(session, database.location));
    if (isThere) {
      const store = createPostgresStore(database, options);
      const reader = createReadOnlyLedger(store, {
        ping: () => database.ping(pingTimeoutMs),
        verify: async () => {},
        countConnections: () => database.perform(countConnections),
        close: () => database.close(),
      });
      const { record, ...looking } = reader.audit;
      return {
        ...reader,
        audit: {
          ...looking,
          async record(action) {
            await requireRecordable(database);
            await record(action);
          },
        },
      };
    }
  } catch (error) {
    await database.close();
    throw error;
  }
  await database.close();
  return undefined;
}

/** What the server keeps back for its administrators does not count. */
async function countConnections(session: Session) {
  const found = await session.row(
    sql`SELECT current_setting('max_connections')::int
         - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true)::int, 0) AS max,
       -- What kind a session of another user is, not everybody may see.
       (SELECT count(*) FROM pg_stat_activity
         WHERE usesysid IS NOT NULL AND backend_type IS DISTINCT FROM 'walsender'
           AND NOT (application_name LIKE 'hotel-review%' AND datname = current_database()
             AND usename = current_user)) AS others`,
  );
  return { max: Number(found?.max), otherClients: Number(found?.others) };
}

/** A reader may be connected to a standby, or as a user that may only read. */
async function requireRecordable({ perform, location }: Database): Promise<void> {
  const asking = async (session: Session) => {
    await requireWritable(session);
    return session.row(sql`SELECT has_table_privilege('hotel_review.audit_trail', 'INSERT') AS may_insert`);
  };
  const found = await perform(asking, { patienceMs: 0 });
  if (!found?.mayInsert) {
    throw new LedgerUnusableError(
      location,
      'the user may not add to its audit trail; have its owner run GRANT INSERT ON hotel_review.audit_trail TO that user',
    );
  }
}

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
async function migrate(
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
async function ledgerExists(session: Session, location: string): Promise<boolean> {
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
async function requireUsable(session: Session, location: string): Promise<void> {
  await requireWritable(session);
  if (!(await ledgerExists(session, location)))
    throw new LedgerUnusableError(location, 'expected the ledger that this process opened, got: none');
}

/** @throws TemporaryFault if the server is a standby, or its connections only read by default */
async function requireWritable(session: Session): Promise<void> {
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

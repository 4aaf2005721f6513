import { randomUUID } from 'node:crypto';
import type { DayKeys } from '../../storage/day-keys.js';
import type { PeerClock } from '../../transports/http/peer-clocks.js';
import { LedgerUnusableError } from '../errors.js';
import type { Remains } from '../guests.js';
import {
  createLedger,
  createReadOnlyLedger,
  type Engine,
  type Ledger,
  type ReadOnlyLedger,
} from '../ledger.js';
import { copied } from '../mappings.js';
import { type Dialect, type Store, sql } from '../query.js';
import { record } from '../run-changes.js';
import { createSealing } from '../sealing.js';
import { after, claim, createHolds, recordAcceptedBatch } from './claims.js';
import { type Database, type DatabaseOptions, openDatabase } from './database.js';
import { ledgerExists, migrate, requireUsable, requireWritable } from './schema.js';
import type { Session } from './session.js';

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

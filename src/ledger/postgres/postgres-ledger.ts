import { randomUUID } from 'node:crypto';
import type { DayKeys } from '../../storage/day-keys.js';
import type { PeerClock } from '../../transports/http/peer-clocks.js';
import { LedgerUnusableError } from '../errors.js';
import {
  createLedger,
  createReadOnlyLedger,
  type Engine,
  type Ledger,
  type ReadOnlyLedger,
} from '../ledger.js';
import { record } from '../run-changes.js';
import { claim, holdsClaim, recordAcceptedBatch, renewClaims } from './claims.js';
import { type Database, type DatabaseOptions, openDatabase } from './database.js';
import { createHolds } from './holds.js';
import { ledgerExists, migrate, requireWritable } from './schema.js';
import type { Session } from './session.js';
import { createPostgresStore } from './store.js';

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
  const { clock, leaseMs = 30_000, mayCreate } = options;
  const database = openDatabase(options, (session, place) => migrate(session, place, mayCreate));
  const { perform, transact } = database;
  const store = createPostgresStore(database, options);
  const { sealing } = store.dialect;
  const holds = createHolds(database, leaseMs, options.peerClock);
  const engine = {
    ping: () => database.ping(pingTimeoutMs, requireWritable),
    verify: () => perform(requireWritable),
    hold: holds.take,
    staleHoldMs: leaseMs + lateRenewalMs,
    claims: {
      claim(right, step, attempt, at) {
        const request = { right, step, attempt, at, leaseMs, id: randomUUID() };
        return perform((session, mayBeDone) => claim(session, sealing, request, mayBeDone));
      },
      async record(held, outcome, at, decide) {
        let wasTried = false;
        const recorded = await perform(async (session, mayBeDone) => {
          wasTried = mayBeDone;
          return mayBeDone ? undefined : recordAcceptedBatch(session, sealing, held, outcome, at);
        });
        return recorded ?? store.transact(() => record(held, outcome, at, decide, wasTried));
      },
      holdsClaim: (held) => perform((session) => holdsClaim(session, held)),
      renewClaims: (claims) => transact((session) => renewClaims(session, claims, leaseMs)),
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
    const isThere = await database.perform((session) => ledgerExists(session, database.place));
    if (isThere) {
      const store = createPostgresStore(database, options);
      const reader = createReadOnlyLedger(store, {
        ping: () => database.ping(pingTimeoutMs),
        verify: async () => {},
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

/** A reader may be connected to a standby, or as a user that may only read. */
async function requireRecordable({ perform, place }: Database): Promise<void> {
  const asking = async (session: Session) => {
    await requireWritable(session);
    return session.row(`SELECT has_table_privilege('hotel_review.audit_trail', 'INSERT') AS may_insert`);
  };
  const found = await perform(asking, { patienceMs: 0 });
  if (!found?.may_insert) {
    throw new LedgerUnusableError(
      place,
      'the user may not add to its audit trail; have its owner run GRANT INSERT ON hotel_review.audit_trail TO that user',
    );
  }
}

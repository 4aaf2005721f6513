import { randomUUID } from 'node:crypto';
import type { DayKeys } from '../../keys/day-keys.js';
import type { NoticeLedger, ReadOnlyNoticeLedger } from '../../notifications/notice-store.js';
import { LedgerUnusableError } from '../../review/ledger-errors.js';
import { createAuditTrail } from '../audit-trail.js';
import { createCanaryWriter } from '../canaries.js';
import { createCaseStore } from '../cases.js';
import { beginCollect } from '../collecting.js';
import { createErasures } from '../erasing.js';
import { createExportLog } from '../export-log.js';
import { createHotelContents } from '../hotel-contents.js';
import { createMappingCopy } from '../mapping-copy.js';
import { createNoticeStore } from '../notice-store.js';
import { type CarriesReference, createReader } from '../reader.js';
import { record } from '../recording.js';
import { createRetention } from '../retention.js';
import { createRunWriter } from '../run-changes.js';
import { createStays } from '../stays.js';
import { createMailLog } from '../verdict-mails.js';
import { createWatchStore } from '../watching.js';
import { recordAcceptedBatch } from './accepted-batch.js';
import { claim, holdsClaim, renewClaims } from './claims.js';
import { type Database, openDatabase, placeOf } from './database.js';
import { createHolds } from './holds.js';
import { ledgerExists, migrate, requireWritable } from './schema.js';
import { createPostgresStore } from './store.js';

const pingTimeoutMs = 1_900;
/** The most that the renewal of a lease may be late. */
const lateRenewalMs = 1_000;

export interface PostgresReaderOptions {
  /** postgres://user:password@host:port/database, with the parameters that libpq knows, such as sslmode. */
  readonly url: string;
  readonly carriesReference: CarriesReference;
  /** Maximum number of connections. */
  readonly connections?: number;
  /** How long each call waits for an unavailable server. */
  readonly patienceMs?: number;
  /** The keys of what may hold guests' names; without them it is not encrypted. */
  readonly keys?: DayKeys | undefined;
}

export interface PostgresLedgerOptions extends PostgresReaderOptions {
  readonly clock: () => number;
  /** How long a claim or a held day lasts unless renewed, by the database's clock. */
  readonly leaseMs?: number;
}

/**
 * The ledger in a PostgreSQL database, for any number of processes. It connects and migrates the schema on first use.
 * Characters that PostgreSQL or UTF-8 can't store become U+FFFD.
 *
 * Every operation may throw LedgerUnusableError, LedgerAwayError or LedgerFullError.
 *
 * @throws LedgerUnusableError for an address that can't be read
 */
export function createPostgresLedger(options: PostgresLedgerOptions): NoticeLedger {
  const { clock, leaseMs = 30_000 } = options;
  const database = connect(options, (transact, place) => transact((session) => migrate(session, place)));
  const { perform, transact } = database;
  const store = createPostgresStore(database, options.keys);
  const { dialect } = store;
  const holds = createHolds(database, leaseMs);
  const holdDay = (day: string) => holds.take(`day ${day}`);
  return {
    ...createReader(store, options.carriesReference),
    ...createRunWriter(store),
    ...createRetention(store, clock, holdDay),
    ...createCanaryWriter(store),
    ...createErasures(store, holdDay),
    ping: () => database.ping(pingTimeoutMs),
    staleHoldMs: leaseMs + lateRenewalMs,
    mappings: createMappingCopy(store, () => holds.take('mappings sync')),
    hotels: createHotelContents(store, () => holds.take('hotels load')),
    exports: createExportLog(store),
    audit: createAuditTrail(store),
    stays: createStays(store),
    watch: createWatchStore(store),
    cases: createCaseStore(store),
    verdictMails: createMailLog(store),
    notices: createNoticeStore(store),
    holdDay,
    async holdSlot(places) {
      for (let number = 1; number <= places; number += 1) {
        const hold = await holds.take(`place ${number}`);
        if (hold) return hold;
      }
      return undefined;
    },
    beginCollect: (right, collect) => beginCollect(store, right, collect),
    claim(right, step, attempt, at) {
      const request = { right, step, attempt, at, leaseMs, id: randomUUID() };
      return perform((session, mayBeDone) => claim(session, dialect.sealing, request, mayBeDone));
    },
    async record(held, ending, at) {
      let wasTried = false;
      const recorded = await perform(async (session, mayBeDone) => {
        wasTried = mayBeDone;
        return mayBeDone ? undefined : recordAcceptedBatch(session, dialect.sealing, held, ending, at);
      });
      return (
        recorded ?? store.transact((mayBeDone) => record(dialect, held, ending, at, wasTried || mayBeDone))
      );
    },
    holdsClaim: (held) => perform((session) => holdsClaim(session, held)),
    renewClaims: (claims) => transact((session) => renewClaims(session, claims, leaseMs)),
    async close() {
      await holds.close();
      await database.close();
    },
  };
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
}): Promise<ReadOnlyNoticeLedger | undefined> {
  const database = connect(options, async () => {});
  try {
    if (!waits) await database.ping(pingTimeoutMs);
    if (mustTakeWrites) await database.perform((session) => requireWritable(session, database.place));
    const isThere = await database.perform((session) => ledgerExists(session, database.place));
    if (isThere) {
      const store = createPostgresStore(database, options.keys);
      const reader = createReader(store, options.carriesReference);
      return {
        ...reader,
        audit: {
          ...reader.audit,
          async record(action) {
            await requireRecordable(database);
            await reader.audit.record(action);
          },
        },
        ping: () => database.ping(pingTimeoutMs),
        close: () => database.close(),
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
  const found = await perform(async (session) => {
    await requireWritable(session, place);
    return session.row(`SELECT has_table_privilege('hotel_review.audit_trail', 'INSERT') AS may_insert`);
  });
  if (!found?.may_insert) {
    throw new LedgerUnusableError(
      place,
      'the user may not add to its audit trail; have its owner run GRANT INSERT ON hotel_review.audit_trail TO that user',
    );
  }
}

function connect(
  { url, connections = 10, patienceMs = 30_000 }: PostgresReaderOptions,
  prepare: (transact: Database['transact'], place: string) => Promise<void>,
): Database {
  const place = placeOf(url);
  return openDatabase({
    ...{ url, place, connections, patienceMs },
    prepare: (transact) => prepare(transact, place),
  });
}

import type { Hold } from '../../async/hold.js';
import type { DayKeys } from '../../keys/day-keys.js';
import type { NoticeLedger, ReadOnlyNoticeLedger } from '../../notifications/notice-store.js';
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
import { claim, findClaimed, renewClaims } from './claims.js';
import { createGroupCommit } from './group-commit.js';
import { openLedgerFile, tryLock } from './ledger-file.js';
import { createSqliteStore, perform } from './store.js';

export interface SqliteLedgerOptions {
  readonly path: string;
  readonly carriesReference: CarriesReference;
  readonly clock: () => number;
  /** How long a claim lasts unless renewed. */
  readonly leaseMs?: number;
  /** The keys of what may hold guests' names; without them it is not encrypted. */
  readonly keys?: DayKeys | undefined;
}

/** The ledger in a local SQLite file. */
export function createSqliteLedger(options: SqliteLedgerOptions): NoticeLedger {
  const { path, carriesReference, clock, leaseMs = 30_000, keys } = options;
  const file = openLedgerFile(path, { isReader: false });
  const { database, locks } = file;
  const store = createSqliteStore(database, { clock, keys, file });
  const { dialect } = store;
  const commits = createGroupCommit(database);
  const tryHold = async (name: string, busyTimeoutMs?: number): Promise<Hold | undefined> => {
    const lock = tryLock(locks, name, busyTimeoutMs);
    return lock && { lost: new AbortController().signal, release: async () => lock.release() };
  };
  return {
    ...createReader(store, carriesReference),
    ...createRunWriter(store),
    ...createRetention(store, clock, tryHold),
    ...createCanaryWriter(store),
    ...createErasures(store, tryHold),
    ping: async () => void database.get('SELECT 1'),
    staleHoldMs: 0,
    mappings: createMappingCopy(store, () => tryHold('mappings-sync')),
    hotels: createHotelContents(store, () => tryHold('hotels-load')),
    exports: createExportLog(store),
    audit: createAuditTrail(store),
    stays: createStays(store),
    watch: createWatchStore(store),
    cases: createCaseStore(store),
    verdictMails: createMailLog(store),
    notices: createNoticeStore(store),
    holdDay: (day) => tryHold(day),
    async holdSlot(places) {
      for (let place = 1; place <= places; place += 1) {
        // Doesn't wait for each of them: the caller tries again when all are taken.
        const hold = await tryHold(`place-${place}`, 0);
        if (hold) return hold;
      }
      return undefined;
    },
    beginCollect: (right, collect) => beginCollect(store, right, collect),
    claim: (right, step, attempt, at) =>
      commits.transact(() => perform(database, claim(dialect, right, step, attempt, at, clock() + leaseMs))),
    record: (held, ending, at) =>
      commits.transact(() => perform(database, record(dialect, held, ending, at, false))),
    holdsClaim: async (held) => findClaimed(database, held) !== undefined,
    renewClaims: async (claims) => database.transact(() => renewClaims(database, claims, clock() + leaseMs)),
    async close() {
      commits.flush();
      file.close();
    },
  };
}

/** The same ledger, read-only, while others work: it leaves checkpoints of the WAL to them. */
export function createSqliteReader({
  path,
  carriesReference,
  clock,
  keys,
}: Omit<SqliteLedgerOptions, 'leaseMs'>): ReadOnlyNoticeLedger {
  const { database, close } = openLedgerFile(path, { isReader: true });
  const store = createSqliteStore(database, { clock, keys });
  return {
    ...createReader(store, carriesReference),
    ping: async () => void database.get('SELECT 1'),
    close: async () => close(),
  };
}

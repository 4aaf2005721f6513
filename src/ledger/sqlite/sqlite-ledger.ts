import type { Hold } from '../../async/hold.js';
import type { DayKeys } from '../../keys/day-keys.js';
import {
  createLedger,
  createReadOnlyLedger,
  type Engine,
  type Ledger,
  type ReadOnlyLedger,
} from '../ledger.js';
import { record } from '../recording.js';
import type { Rules } from '../rules.js';
import { claim, findClaimed, renewClaims } from './claims.js';
import { createGroupCommit } from './group-commit.js';
import { openLedgerFile, tryLock } from './ledger-file.js';
import { createSqliteStore } from './store.js';

export interface SqliteLedgerOptions {
  readonly path: string;
  readonly rules: Rules;
  readonly clock: () => number;
  /** How long a claim lasts unless renewed. */
  readonly leaseMs?: number;
  /** The keys of what may hold guests' names; without them it is not encrypted. */
  readonly keys?: DayKeys | undefined;
}

/** The ledger in a local SQLite file. */
export function createSqliteLedger(options: SqliteLedgerOptions): Ledger {
  const { path, rules, clock, leaseMs = 30_000, keys } = options;
  const file = openLedgerFile(path, { isReader: false });
  const { database, locks } = file;
  const { store, perform } = createSqliteStore(database, { rules, clock, keys, file });
  const commits = createGroupCommit(database);
  const hold = async (name: string, busyTimeoutMs?: number): Promise<Hold | undefined> => {
    const lock = tryLock(locks, name, busyTimeoutMs);
    return lock && { lost: new AbortController().signal, release: async () => lock.release() };
  };
  const engine = {
    ping: async () => void database.get('SELECT 1'),
    hold,
    staleHoldMs: 0,
    async holdPlace(places: number) {
      for (let place = 1; place <= places; place += 1) {
        // Doesn't wait for each of them: the caller tries again when all are taken.
        const held = await hold(`place-${place}`, 0);
        if (held) return held;
      }
      return undefined;
    },
    claims: {
      claim: (right, step, attempt, at) =>
        commits.transact(() => perform(claim(right, step, attempt, at, clock() + leaseMs))),
      record: (held, ending, at) => commits.transact(() => perform(record(held, ending, at))),
      holdsClaim: async (held) => findClaimed(database, held) !== undefined,
      renewClaims: async (claims) =>
        database.transact(() => renewClaims(database, claims, clock() + leaseMs)),
    },
    async close() {
      commits.flush();
      file.close();
    },
  } satisfies Engine;
  return createLedger(store, engine, clock);
}

/** The same ledger, read-only, while others work: it leaves checkpoints of the WAL to them. */
export function createSqliteReader({
  path,
  rules,
  clock,
  keys,
}: Omit<SqliteLedgerOptions, 'leaseMs'>): ReadOnlyLedger {
  const { database, close } = openLedgerFile(path, { isReader: true });
  const { store } = createSqliteStore(database, { rules, clock, keys });
  return createReadOnlyLedger(store, {
    ping: async () => void database.get('SELECT 1'),
    close: async () => close(),
  });
}

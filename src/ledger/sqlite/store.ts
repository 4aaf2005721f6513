import { hashReference } from '../../booking/booking-keys.js';
import type { DayKeys } from '../../keys/day-keys.js';
import { findInPage } from '../hash-index.js';
import { toStorableHotel } from '../mapping-changes.js';
import {
  type Answer,
  all,
  type Candidates,
  type Dialect,
  type Query,
  type Request,
  type Store,
} from '../query.js';
import type { Rules } from '../rules.js';
import { createSealing, type Sealing } from '../sealing.js';
import { bookingForms } from '../step.js';
import type { Database, Value } from './database.js';
import type { LedgerFile } from './ledger-file.js';
import { lookUp } from './mapping-look-up.js';

export interface SqliteStoreOptions {
  readonly rules: Rules;
  /** Decides which claims are abandoned. */
  readonly clock: () => number;
  /** Undefined to encrypt nothing. */
  readonly keys: DayKeys | undefined;
  /** Undefined for a reader. */
  readonly file?: Pick<LedgerFile, 'noteRemoval' | 'clearRemains'>;
}

/** SQLite as a store of the ledger, and how it performs a query at once; one that changes something inside a transaction. */
export function createSqliteStore(database: Database, { rules, clock, keys, file }: SqliteStoreOptions) {
  const dialect = createDialect(rules, clock, createSealing(keys));
  function perform<Result>(query: Query<Result>): Result {
    let step = query.next();
    while (!step.done) step = query.next({ ...answer(database, step.value), dialect });
    return step.value;
  }
  const store: Store = {
    dialect,
    noteRemoval: async () => file?.noteRemoval(clock()),
    clearRemains: async (limits) => file?.clearRemains(limits),
    read: async (query) => perform(query()),
    readTogether: async (query) => perform(query()),
    transact: async (query) => database.transact(() => perform(query())),
    async transactUnflushed(query) {
      // Whatever a power failure destroys is collected again; the commit of the plan flushes all that precedes it.
      database.exec('PRAGMA synchronous = NORMAL');
      try {
        return database.transact(() => perform(query()));
      } finally {
        database.exec('PRAGMA synchronous = FULL');
      }
    },
  };
  return { store, perform };
}

function answer(database: Database, request: Request): Omit<Answer, 'dialect'> {
  switch (request.kind) {
    case 'describe':
      return { rows: [], changed: 0 };
    case 'read':
      return { rows: database.all(request.sql, ...(request.values as readonly Value[])), changed: 0 };
    case 'change':
      return { rows: [], changed: database.run(request.sql, ...request.values) };
    case 'insert': {
      const columns = Object.keys(request.columns);
      const sql = `INSERT INTO ${request.table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
      for (const row of request.rows) database.run(sql, ...row);
      return { rows: [], changed: 0 };
    }
    case 'update': {
      const [key, ...columns] = Object.keys(request.columns);
      const sql = `UPDATE ${request.table} SET ${columns.map((name) => `${name} = ?`).join(', ')} WHERE ${key} = ?`;
      for (const [id = null, ...cells] of request.rows) database.run(sql, ...cells, id);
      return { rows: [], changed: 0 };
    }
  }
}

function createDialect(rules: Rules, clock: () => number, sealing: Sealing): Dialect {
  return {
    mayBeDone: false,
    rules,
    // Without this hint, SQLite searches all steps of the run for those that wait for a step.
    stepsByPredecessor: 'steps INDEXED BY steps_by_predecessor',
    stepsBySlice: 'steps INDEXED BY steps_by_slice',
    mappingsByNumber: 'mappings NOT INDEXED',
    lines: 'lines',
    json: { array: 'json_array', gather: 'json_group_array' },
    sealing,
    lock: '',
    isMappingOfCase:
      'mappings.provider_name = cases.provider_name AND mappings.provider_hotel_id = cases.provider_hotel_id',
    // 32 KB a page, so that a look-up reads little and a day of a million bookings has few pages.
    reference_pages: { pageEntries: 4096 },
    stay_pages: { pageEntries: 4096 },
    isAbandoned: () => ({ sql: 'coalesce(lease_until, 0) <= ?', values: [clock()] }),
    isHotel(hotel) {
      const { providerName, providerHotelId } = toStorableHotel(hotel);
      return { sql: 'provider_name = ? AND provider_hotel_id = ?', values: [providerName, providerHotelId] };
    },
    isReference: (reference) => ({ sql: 'reference = ?', values: [reference] }),
    isListed: (column, list) => ({
      sql: `${column} IN (SELECT value FROM json_each(?))`,
      values: [JSON.stringify(list)],
    }),
    findContents: (load, serviceIds) => ({
      sql: `SELECT * FROM hotel_contents
       WHERE load = ? AND service_id IN (SELECT value FROM json_each(?)) ORDER BY number`,
      values: [load, JSON.stringify(serviceIds)],
    }),
    findCandidates,
    lookUp,
  };
}

/** After years there are thousands of runs: a statement for each takes three times as long. */
const runsAtOnce = 100;

function* findCandidates(reference: string): Query<Candidates[]> {
  const hash = hashReference(reference);
  const found: Candidates[] = [];
  const runs = yield* all(
    'SELECT number, batch_size FROM runs WHERE batch_size IS NOT NULL AND pruned_at IS NULL ORDER BY number DESC',
  );
  for (let first = 0; first < runs.length; first += runsAtOnce) {
    const some = runs.slice(first, first + runsAtOnce);
    const pages = yield* all(
      `SELECT run, form, entries FROM (SELECT value AS of_run FROM json_each(?)) CROSS JOIN reference_pages
       WHERE run = of_run AND form IN ('body', 'file') AND first_hash <= ? AND last_hash >= ?`,
      JSON.stringify(some.map(({ number }) => Number(number))),
      hash,
      hash,
    );
    const positions = new Map<string, number[]>();
    for (const { run, form, entries } of pages) {
      const words = findInPage(entries as Buffer, hash);
      const key = `${run} ${form}`;
      if (words.length > 0) positions.set(key, [...(positions.get(key) ?? []), ...words]);
    }
    for (const { number, batch_size } of some)
      for (const form of bookingForms) {
        const ofForm = positions.get(`${number} ${form}`)?.sort((a, b) => a - b);
        if (ofForm)
          found.push({ run: Number(number), form, batchSize: Number(batch_size), positions: ofForm });
      }
  }
  return found;
}

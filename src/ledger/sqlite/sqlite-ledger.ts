import type { Hold } from '../../base/hold.js';
import type { ProviderHotel } from '../../booking/booking.js';
import { hashReference } from '../../booking/booking.js';
import { claimStep } from '../../rules/state-machine.js';
import type { Claim, Claimed, SharedRight, Slice } from '../../rules/step.js';
import type { DayKeys } from '../../storage/day-keys.js';
import {
  createLedger,
  createReadOnlyLedger,
  type Engine,
  type Ledger,
  type ReadOnlyLedger,
} from '../ledger.js';
import { toStorableHotel } from '../mapping-syncs.js';
import type { CopiedMapping } from '../mappings.js';
import {
  type Answer,
  all,
  type Candidates,
  type Dialect,
  database,
  one,
  type Query,
  type Request,
  type Store,
  type TraceRange,
} from '../query.js';
import { changeRun, patchRun, record } from '../run-changes.js';
import { findLocked } from '../runs.js';
import { createSealing, placeOfBatch, type Sealing } from '../sealing.js';
import { gatherCandidates } from '../stays.js';
import { changeSteps, storedStepColumns, toStep, toStoredStep } from '../steps.js';
import { createGroupCommit, type Database, type Value } from './database.js';
import { type LedgerFile, openLedgerFile, tryLock } from './ledger-file.js';

export interface SqliteLedgerOptions {
  readonly path: string;
  /** Decides which claims are abandoned. */
  readonly clock: () => number;
  /** How long a claim lasts unless renewed. */
  readonly leaseMs?: number;
  /** How long it waits while another process writes; far longer than a transaction takes, by default. */
  readonly busyTimeoutMs?: number;
  /** The keys of what may hold guests' names; without them it is not encrypted. */
  readonly keys?: DayKeys | undefined;
  /** Finds rejected records by hashes under this key. */
  readonly hashKey?: string | undefined;
  /** Its file is removed once it is open: nobody else is to see it. */
  readonly isUnlinked?: true;
}

/** The ledger in a local SQLite file. */
export function createSqliteLedger(options: SqliteLedgerOptions): Ledger {
  const { path, clock, leaseMs = 30_000, busyTimeoutMs, isUnlinked } = options;
  const file = openLedgerFile(path, { isReader: false, busyTimeoutMs, isUnlinked });
  const { locks, watch } = file;
  const database: Database = {
    ...file.database,
    // Nothing is recorded in a file that nobody else sees.
    transact(work) {
      watch.expectSameFile();
      return file.database.transact(work);
    },
  };
  const { store, perform } = createSqliteStore(database, options, file);
  const commits = createGroupCommit(database);
  const hold = async (name: string): Promise<Hold | undefined> => {
    const lock = tryLock(locks, name);
    return lock && { lost: new AbortController().signal, release: async () => lock.release() };
  };
  const engine = {
    ping: watch.verify,
    verify: watch.verify,
    hold,
    staleHoldMs: 0,
    claims: {
      claim: (right, step, attempt, at) =>
        commits.transact(() => perform(claim(right, step, attempt, at, clock() + leaseMs))),
      record: (...attempted) => commits.transact(() => perform(record(...attempted))),
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
export function createSqliteReader(options: Omit<SqliteLedgerOptions, 'leaseMs'>): ReadOnlyLedger {
  const { path, busyTimeoutMs } = options;
  const { database, watch, close } = openLedgerFile(path, { isReader: true, busyTimeoutMs });
  const { store } = createSqliteStore(database, options);
  return createReadOnlyLedger(store, {
    ping: watch.verify,
    verify: watch.verify,
    close: async () => close(),
  });
}

/** SQLite as a store of the ledger, and how it performs a query at once; one that changes something inside a transaction. */
export function createSqliteStore(
  database: Database,
  { clock, keys, hashKey }: Pick<SqliteLedgerOptions, 'clock' | 'keys' | 'hashKey'>,
  file?: LedgerFile,
) {
  const dialect = createDialect(clock, createSealing(keys, hashKey));
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
    readTogether: async (query) => database.readTogether(() => perform(query())),
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

function createDialect(clock: () => number, sealing: Sealing): Dialect {
  return {
    mayBeDone: false,
    stepsBySlice: 'steps INDEXED BY steps_by_slice',
    mappingsByNumber: 'mappings NOT INDEXED',
    lines: 'lines',
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

function* findCandidates(reference: string, { day, from, to }: TraceRange): Query<Candidates[]> {
  const hash = hashReference(reference);
  const found: Candidates[] = [];
  const runs = yield* all(
    `SELECT number FROM runs
     WHERE batch_size IS NOT NULL AND pruned_at IS NULL AND day = coalesce(?, day) AND number BETWEEN ? AND ?
     ORDER BY number DESC`,
    ...[day ?? null, from, to],
  );
  for (let first = 0; first < runs.length; first += runsAtOnce) {
    const some = runs.slice(first, first + runsAtOnce).map(({ number }) => Number(number));
    const pages = yield* all(
      `SELECT number, stream, batch_size, entries FROM (SELECT value AS of_run FROM json_each(?))
         CROSS JOIN runs CROSS JOIN reference_pages
       WHERE number = of_run AND run = of_run AND stream IN ('posted', 'file') AND first_hash <= ? AND last_hash >= ?`,
      JSON.stringify(some),
      hash,
      hash,
    );
    found.push(...gatherCandidates(pages, hash));
  }
  return found;
}

/** A found mapping: the index of its hotel in the request, then its columns. */
type Found = readonly [
  place: number,
  number: number,
  serviceId: number | null,
  locationCode: string | null,
  channelIds: readonly string[],
  firstSeenAt: number,
  movedAt: number | null,
];

/**
 * The copy's mapping of each hotel, in the order of the request. One statement per provider returns all of its hotels as
 * one text: a statement or a row per hotel would take three times as long.
 */
export function* lookUp(hotels: readonly ProviderHotel[]): Query<(CopiedMapping | undefined)[]> {
  const byProvider = new Map<string, { readonly places: number[]; readonly ids: string[] }>();
  for (const [place, hotel] of hotels.entries()) {
    const { providerName, providerHotelId } = toStorableHotel(hotel);
    let asked = byProvider.get(providerName);
    if (!asked) {
      asked = { places: [], ids: [] };
      byProvider.set(providerName, asked);
    }
    asked.places.push(place);
    asked.ids.push(providerHotelId);
  }
  const found = new Array<CopiedMapping | undefined>(hotels.length).fill(undefined);
  for (const [providerName, { places, ids }] of byProvider) {
    const row = yield* one(
      `SELECT json_group_array(json_array(
         key, number, service_id, location_code, json(channel_ids), first_seen_at, moved_at
       )) AS found
       FROM json_each(?) CROSS JOIN mappings ON provider_name = ? AND provider_hotel_id = value`,
      JSON.stringify(ids),
      providerName,
    );
    for (const columns of JSON.parse(String(row?.found)) as Found[]) {
      const [index, number, serviceId, locationCode, channelIds, firstSeenAt, movedAt] = columns;
      const place = places[index];
      if (place === undefined) continue;
      found[place] = {
        number,
        providerName,
        providerHotelId: String(ids[index]),
        ...(serviceId !== null && { serviceId }),
        ...(locationCode !== null && { locationCode }),
        channelIds,
        firstSeenAt,
        ...(movedAt !== null && { movedAt }),
      };
    }
  }
  return found;
}

/** Every step is claimed with this. It names what is read: each column adds to the cost of a row. */
const selectClaimedStep = `SELECT ${storedStepColumns.join(', ')}, stream, batch, first, not_before
  FROM steps WHERE run = ? AND name = ?`;

export function* claim(
  right: SharedRight,
  name: string,
  attempt: number,
  at: number,
  leaseUntil: number,
): Query<Claimed | undefined> {
  const { runId, token } = right;
  const stored = yield* findLocked(runId);
  const row = stored && (yield* one(selectClaimedStep, stored.number, name));
  if (!row) return undefined;
  const { number, run } = stored;
  const change = claimStep(run, toStoredStep(row), { token, attempt, at });
  if (!change) return undefined;
  yield* changeSteps(number, { which: { name }, set: change.step }, leaseUntil);
  yield* changeRun(number, change.run);
  const step = toStep(runId, row);
  const lines = step.slice && (yield* findLines(number, step.slice));
  return {
    step,
    attempt,
    token: run.token,
    claimedAt: at,
    mayRepeat: change.mayRepeat,
    run: patchRun(run, change.run),
    ...(lines && { lines }),
  };
}

function* findLines(run: number, { stream, batch }: Slice): Query<Buffer | undefined> {
  const { sealing } = yield* database();
  const row = yield* one(
    'SELECT lines FROM batches WHERE run = ? AND stream = ? AND batch = ?',
    run,
    stream,
    batch,
  );
  return row && sealing.openLines(row.lines, placeOfBatch(run, stream, batch));
}

/** The row number of the claim's run, if the claim is still valid. */
function findClaimed(database: Database, { step, attempt, token }: Claim): number | undefined {
  const row = database.get(
    `SELECT runs.number FROM runs JOIN steps ON steps.run = runs.number AND steps.name = ?
     WHERE runs.id = ? AND runs.token = ? AND steps.state = 'running' AND steps.attempts = ? AND steps.token = ?`,
    step.name,
    step.runId,
    token,
    attempt,
    token,
  );
  return row && Number(row.number);
}

/** @returns the claims that are outdated */
export function renewClaims(database: Database, claims: readonly Claim[], leaseUntil: number): Claim[] {
  return claims.filter((claim) => {
    const run = findClaimed(database, claim);
    if (run !== undefined) renewLease(database, run, claim.step.name, leaseUntil);
    return run === undefined;
  });
}

function renewLease(database: Database, run: number, step: string, until: number): void {
  database.run('UPDATE steps SET lease_until = ? WHERE run = ? AND name = ?', until, run, step);
}

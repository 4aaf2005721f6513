import type { Hold } from '../async/hold.js';
import type {
  CopiedMapping,
  MappingMove,
  MappingSummary,
  NewMasterHotel,
  ProviderHotel,
} from '../mappings/mapping-copy.js';
import { beginSync, latestSync, latestSyncs, restartSync, storePage } from './mapping-syncs.js';
import { all, bind, change, database, one, type Query, type Store } from './query.js';
import { mappingColumns, toMapping, toMove, toNewHotel, toSkippedRow, toSummary } from './stored-mapping.js';
import { toStorable } from './stored-values.js';

/** @param holdSync takes the exclusive right to sync, without waiting */
export function createMappings(store: Store, holdSync: () => Promise<Hold | undefined>) {
  return {
    ...createMappingReader(store),
    /** Takes the exclusive right to sync without waiting; undefined while a live process holds it. */
    holdSync,
    ...bind(store.transact, { beginSync, storePage, restartSync, markNewHotelsTold }),
  };
}

export function createMappingReader({ read, readTogether }: Store) {
  return {
    ...bind(readTogether, { find, summarise }),
    ...bind(read, { latestSync, listSyncs: latestSyncs, lookUp, listMappings, isEmpty, listNewHotels }),
  };
}

/** The copy's mapping of each hotel, in the order of the request. */
function* lookUp(hotels: readonly ProviderHotel[]): Query<(CopiedMapping | undefined)[]> {
  const dialect = yield* database();
  return yield* dialect.lookUp(hotels);
}

function* find(hotel: ProviderHotel): Query<{ mapping: CopiedMapping; moves: MappingMove[] } | undefined> {
  const dialect = yield* database();
  const { sql, values } = dialect.isHotel(hotel);
  const row = yield* one(`SELECT ${mappingColumns} FROM mappings WHERE ${sql}`, ...values);
  if (!row) return undefined;
  const mapping = toMapping(row);
  const moves = yield* all(`SELECT * FROM mapping_moves WHERE mapping = ? ORDER BY number`, mapping.number);
  return { mapping, moves: moves.map(toMove) };
}

function* listMappings({
  after,
  limit,
  providers,
}: {
  readonly after: number;
  readonly limit: number;
  readonly providers?: readonly string[];
}): Query<CopiedMapping[]> {
  const dialect = yield* database();
  // By number, even if providers are given: with their index, all their rows would be sorted for every page.
  const ofProviders = providers && dialect.isListed('provider_name', providers.map(toStorable));
  const rows = yield* all(
    `SELECT ${mappingColumns} FROM ${dialect.mappingsByNumber}
     WHERE number > ? AND service_id IS NOT NULL ${ofProviders ? `AND ${ofProviders.sql}` : ''}
     ORDER BY number LIMIT ?`,
    after,
    ...(ofProviders?.values ?? []),
    limit,
  );
  return rows.map(toMapping);
}

function* summarise(): Query<MappingSummary> {
  const totals = yield* one(
    `SELECT count(service_id) AS mappings, count(DISTINCT service_id) AS master_hotels,
       count(*) - count(service_id) AS deleted
     FROM mappings`,
  );
  const providers = yield* all(
    `SELECT provider_name, count(*) AS mappings FROM mappings WHERE service_id IS NOT NULL
     GROUP BY provider_name ORDER BY provider_name`,
  );
  const kept = yield* one(`SELECT count(*) AS kept FROM skipped_mappings`);
  const lastSkipped = yield* all(
    `SELECT scope, seen_at, reason, record FROM skipped_mappings ORDER BY number DESC LIMIT 100`,
  );
  return {
    ...toSummary(totals, providers, yield* latestSyncs()),
    keptSkipped: Number(kept?.kept),
    lastSkipped: lastSkipped.map(toSkippedRow),
  };
}

function* isEmpty(): Query<boolean> {
  return (yield* one(`SELECT 1 AS found FROM mappings LIMIT 1`)) === undefined;
}

function* listNewHotels({
  after,
  limit,
}: {
  readonly after: number;
  readonly limit: number;
}): Query<NewMasterHotel[]> {
  const rows = yield* all(
    `SELECT * FROM master_hotels WHERE told_at IS NULL AND number > ? ORDER BY number LIMIT ?`,
    after,
    limit,
  );
  return rows.map(toNewHotel);
}

function* markNewHotelsTold(upTo: number, at: number): Query<void> {
  yield* change(`UPDATE master_hotels SET told_at = ? WHERE told_at IS NULL AND number <= ?`, at, upTo);
}

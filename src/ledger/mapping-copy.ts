import type { Hold } from '../async/hold.js';
import type {
  CopiedMapping,
  MappingCopy,
  MappingMove,
  MappingReader,
  MappingSummary,
  NewMasterHotel,
  ProviderHotel,
} from '../mappings/mapping-copy.js';
import { beginSync, latestSync, latestSyncs, restartSync, storePage } from './mapping-syncs.js';
import { all, change, type Dialect, one, type Query, type Store } from './query.js';
import { mappingColumns, toMapping, toMove, toNewHotel, toSkippedRow, toSummary } from './stored-mapping.js';
import { toStorable } from './stored-values.js';

/** @param holdSync takes the exclusive right to sync, without waiting */
export function createMappingCopy(store: Store, holdSync: () => Promise<Hold | undefined>): MappingCopy {
  const { dialect, transact } = store;
  return {
    ...createMappingReader(store),
    holdSync,
    beginSync: (sync) => transact((mayBeDone) => beginSync(dialect, sync, mayBeDone)),
    storePage: (page) => transact(() => storePage(dialect, page)),
    restartSync: (sync) => transact((mayBeDone) => restartSync(dialect, sync, mayBeDone)),
    markNewHotelsTold: (upTo, at) => transact(() => markNewHotelsTold(dialect, upTo, at)),
  };
}

export function createMappingReader({ dialect, read, readTogether }: Store): MappingReader {
  return {
    latestSync: (scope = '') => read(() => latestSync(dialect, scope)),
    listSyncs: () => read(() => latestSyncs(dialect)),
    find: (hotel) => readTogether(() => find(dialect, hotel)),
    lookUp: (hotels) => read(() => dialect.lookUp(hotels)),
    listMappings: (page) => read(() => listMappings(dialect, page)),
    summarise: () => readTogether(() => summarise(dialect)),
    isEmpty: () => read(() => isEmpty(dialect)),
    listNewHotels: (page) => read(() => listNewHotels(dialect, page)),
  };
}

function* find(
  dialect: Dialect,
  hotel: ProviderHotel,
): Query<{ mapping: CopiedMapping; moves: MappingMove[] } | undefined> {
  const { schema } = dialect;
  const { sql, values } = dialect.isHotel(hotel);
  const row = yield* one(`SELECT ${mappingColumns} FROM ${schema}mappings WHERE ${sql}`, ...values);
  if (!row) return undefined;
  const mapping = toMapping(row);
  const moves = yield* all(
    `SELECT * FROM ${schema}mapping_moves WHERE mapping = ? ORDER BY number`,
    mapping.number,
  );
  return { mapping, moves: moves.map(toMove) };
}

function* listMappings(
  dialect: Dialect,
  { after, limit, providers }: Parameters<MappingReader['listMappings']>[0],
): Query<CopiedMapping[]> {
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

function* summarise(dialect: Dialect): Query<MappingSummary> {
  const totals = yield* one(
    `SELECT count(service_id) AS mappings, count(DISTINCT service_id) AS master_hotels,
       count(*) - count(service_id) AS deleted
     FROM ${dialect.schema}mappings`,
  );
  const providers = yield* all(
    `SELECT provider_name, count(*) AS mappings FROM ${dialect.schema}mappings WHERE service_id IS NOT NULL
     GROUP BY provider_name ORDER BY provider_name`,
  );
  const kept = yield* one(`SELECT count(*) AS kept FROM ${dialect.schema}skipped_mappings`);
  const lastSkipped = yield* all(
    `SELECT scope, seen_at, reason, record FROM ${dialect.schema}skipped_mappings ORDER BY number DESC LIMIT 100`,
  );
  return {
    ...toSummary(totals, providers, yield* latestSyncs(dialect)),
    keptSkipped: Number(kept?.kept),
    lastSkipped: lastSkipped.map(toSkippedRow),
  };
}

function* isEmpty({ schema }: Dialect): Query<boolean> {
  return (yield* one(`SELECT 1 AS found FROM ${schema}mappings LIMIT 1`)) === undefined;
}

function* listNewHotels(
  { schema }: Dialect,
  { after, limit }: Parameters<MappingReader['listNewHotels']>[0],
): Query<NewMasterHotel[]> {
  const rows = yield* all(
    `SELECT * FROM ${schema}master_hotels WHERE told_at IS NULL AND number > ? ORDER BY number LIMIT ?`,
    after,
    limit,
  );
  return rows.map(toNewHotel);
}

function* markNewHotelsTold({ schema }: Dialect, upTo: number, at: number): Query<void> {
  yield* change(
    `UPDATE ${schema}master_hotels SET told_at = ? WHERE told_at IS NULL AND number <= ?`,
    at,
    upTo,
  );
}

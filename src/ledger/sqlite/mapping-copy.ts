import type { Hold } from '../../async/hold.js';
import type {
  CopiedMapping,
  MappingCopy,
  MappingMove,
  MappingReader,
  MappingSummary,
  ProviderHotel,
} from '../../mappings/mapping-copy.js';
import { toStorableHotel } from '../mapping-changes.js';
import { mappingColumns, toMapping, toMove, toNewHotel, toSummary } from '../stored-mapping.js';
import { toStorable } from '../stored-values.js';
import type { Database } from './database.js';
import { lookUp } from './mapping-look-up.js';
import { beginSync, latestSync, latestSyncs, restartSync, storePage } from './mapping-syncs.js';

/** @param holdSync takes the exclusive right to sync, without waiting */
export function createMappingCopy(database: Database, holdSync: () => Hold | undefined): MappingCopy {
  return {
    ...createMappingReader(database),
    holdSync: async () => holdSync(),
    beginSync: async (sync) => database.transact(() => beginSync(database, sync)),
    storePage: async (page) => database.transact(() => storePage(database, page)),
    restartSync: async (sync) => database.transact(() => restartSync(database, sync)),
    async markNewHotelsTold(upTo, at) {
      database.transact(() =>
        database.run('UPDATE master_hotels SET told_at = ? WHERE told_at IS NULL AND number <= ?', at, upTo),
      );
    },
  };
}

export function createMappingReader(database: Database): MappingReader {
  return {
    latestSync: async (scope) => latestSync(database, scope),
    find: async (hotel) => find(database, hotel),
    lookUp: async (hotels) => lookUp(database, hotels),
    listMappings: async (page) => listMappings(database, page),
    summarise: async () => summarise(database),
    isEmpty: async () => database.get('SELECT 1 FROM mappings LIMIT 1') === undefined,
    async listNewHotels({ after, limit }) {
      const rows = database.all(
        'SELECT * FROM master_hotels WHERE told_at IS NULL AND number > ? ORDER BY number LIMIT ?',
        after,
        limit,
      );
      return rows.map(toNewHotel);
    },
  };
}

function find(
  database: Database,
  hotel: ProviderHotel,
): { mapping: CopiedMapping; moves: MappingMove[] } | undefined {
  const { providerName, providerHotelId } = toStorableHotel(hotel);
  const row = database.get(
    `SELECT ${mappingColumns} FROM mappings WHERE provider_name = ? AND provider_hotel_id = ?`,
    providerName,
    providerHotelId,
  );
  if (!row) return undefined;
  const mapping = toMapping(row);
  const moves = database.all('SELECT * FROM mapping_moves WHERE mapping = ? ORDER BY number', mapping.number);
  return { mapping, moves: moves.map(toMove) };
}

function listMappings(
  database: Database,
  { after, limit, providers }: Parameters<MappingReader['listMappings']>[0],
): CopiedMapping[] {
  // Scans by number, even with providers given: through their index all their rows would be sorted for every page.
  const rows = database.all(
    `SELECT ${mappingColumns} FROM mappings NOT INDEXED
     WHERE number > ? AND service_id IS NOT NULL
       ${providers ? 'AND provider_name IN (SELECT value FROM json_each(?))' : ''}
     ORDER BY number LIMIT ?`,
    after,
    ...(providers ? [JSON.stringify(providers.map(toStorable))] : []),
    limit,
  );
  return rows.map(toMapping);
}

function summarise(database: Database): MappingSummary {
  const totals = database.get(
    `SELECT count(service_id) AS mappings, count(DISTINCT service_id) AS master_hotels,
       count(*) - count(service_id) AS deleted
     FROM mappings`,
  );
  const providers = database.all(
    `SELECT provider_name, count(*) AS mappings FROM mappings WHERE service_id IS NOT NULL
     GROUP BY provider_name ORDER BY provider_name`,
  );
  return toSummary(totals, providers, latestSyncs(database));
}

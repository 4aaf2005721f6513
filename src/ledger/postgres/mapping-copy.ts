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
import type { Database } from './database.js';
import { isHotel, lookUp } from './mapping-look-up.js';
import { beginSync, latestSync, latestSyncs, restartSync, storePage } from './mapping-syncs.js';
import type { Session } from './session.js';

/** @param holdSync takes the exclusive right to sync, without waiting */
export function createMappingCopy(
  database: Database,
  holdSync: () => Promise<Hold | undefined>,
): MappingCopy {
  const { perform, transact } = database;
  return {
    ...createMappingReader(database),
    holdSync,
    beginSync: (sync) => transact((session, mayBeDone) => beginSync(session, sync, mayBeDone)),
    storePage: (page) => transact((session) => storePage(session, page)),
    restartSync: (sync) => transact((session, mayBeDone) => restartSync(session, sync, mayBeDone)),
    async markNewHotelsTold(upTo, at) {
      await perform((session) =>
        session.run(
          'UPDATE hotel_review.master_hotels SET told_at = $1 WHERE told_at IS NULL AND number <= $2',
          at,
          upTo,
        ),
      );
    },
  };
}

export function createMappingReader({ perform, snapshot }: Database): MappingReader {
  return {
    latestSync: (scope) => perform((session) => latestSync(session, scope)),
    find: (hotel) => snapshot((session) => find(session, hotel)),
    lookUp: (hotels) => perform((session) => lookUp(session, hotels)),
    listMappings: (page) => perform((session) => listMappings(session, page)),
    summarise: () => snapshot(summarise),
    isEmpty: () =>
      perform(
        async (session) =>
          (await session.row('SELECT 1 AS found FROM hotel_review.mappings LIMIT 1')) === undefined,
      ),
    listNewHotels: ({ after, limit }) =>
      perform(async (session) => {
        const rows = await session.rows(
          `SELECT * FROM hotel_review.master_hotels WHERE told_at IS NULL AND number > $1
           ORDER BY number LIMIT $2`,
          after,
          limit,
        );
        return rows.map(toNewHotel);
      }),
  };
}

async function find(
  session: Session,
  hotel: ProviderHotel,
): Promise<{ mapping: CopiedMapping; moves: MappingMove[] } | undefined> {
  const { providerName, providerHotelId } = toStorableHotel(hotel);
  const row = await session.row(
    `SELECT ${mappingColumns} FROM hotel_review.mappings WHERE ${isHotel('$1', '$2')}`,
    providerName,
    providerHotelId,
  );
  if (!row) return undefined;
  const mapping = toMapping(row);
  const moves = await session.rows(
    'SELECT * FROM hotel_review.mapping_moves WHERE mapping = $1 ORDER BY number',
    mapping.number,
  );
  return { mapping, moves: moves.map(toMove) };
}

async function listMappings(
  session: Session,
  { after, limit, providers }: Parameters<MappingReader['listMappings']>[0],
): Promise<CopiedMapping[]> {
  const rows = await session.rows(
    `SELECT ${mappingColumns} FROM hotel_review.mappings
     WHERE number > $1 AND service_id IS NOT NULL AND ($3::text[] IS NULL OR provider_name = ANY ($3))
     ORDER BY number LIMIT $2`,
    after,
    limit,
    providers ?? null,
  );
  return rows.map(toMapping);
}

/** Call it in one snapshot. */
async function summarise(session: Session): Promise<MappingSummary> {
  const totals = await session.row(
    `SELECT count(service_id) AS mappings, count(DISTINCT service_id) AS master_hotels,
       count(*) - count(service_id) AS deleted
     FROM hotel_review.mappings`,
  );
  const providers = await session.rows(
    `SELECT provider_name, count(*) AS mappings FROM hotel_review.mappings WHERE service_id IS NOT NULL
     GROUP BY provider_name ORDER BY provider_name`,
  );
  return toSummary(totals, providers, await latestSyncs(session));
}

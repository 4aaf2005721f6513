import { all, bind, change, database, type Query, type Store } from './query.js';
import { bigint, columnsOf, optional, type Row, text } from './table.js';

export function createWatch({ read, readTogether, transact }: Store) {
  return {
    ...bind(read, { nextMoves }),
    ...bind(transact, { finishMoves }),
    ...bind(readTogether, { readMasterHotels }),
  };
}

/** The newest move that was compared with the bookings ahead: a single row. */
export const watchedMoves = [
  'CREATE TABLE watched_moves (last_move bigint NOT NULL) STRICT',
  'INSERT INTO watched_moves (last_move) VALUES (0)',
];

const leftHotels = columnsOf({
  providerName: text(),
  /** Its master hotel in the copy; absent if the mapping was deleted. */
  copyServiceId: optional(bigint),
});
export type LeftHotel = Row<typeof leftHotels>;
const movedMappings = columnsOf({
  providerName: text(),
  providerHotelId: text(),
  copyServiceId: optional(bigint),
  /** When it last moved. */
  movedAt: bigint,
});
export type MovedMapping = Row<typeof movedMappings>;

/**
 * The mappings of the oldest moves that no watch has compared with the current and upcoming stays, each once, however often
 * it moved; with the number of these moves, and the number of the last one.
 */
function* nextMoves(limit: number) {
  const rows = yield* all(
    `SELECT provider_name, provider_hotel_id, service_id AS copy_service_id, moves, last_move,
       moved.seen_at AS moved_at
     FROM (
       SELECT mapping, count(*) AS moves, max(number) AS last_move, max(seen_at) AS seen_at FROM (
         SELECT number, mapping, seen_at FROM mapping_moves
         WHERE number > (SELECT last_move FROM watched_moves) ORDER BY number LIMIT ?
       ) AS next GROUP BY mapping
     ) AS moved JOIN mappings ON mappings.number = moved.mapping ORDER BY last_move`,
    limit,
  );
  const last = rows.at(-1);
  if (!last) return undefined;
  return {
    moves: rows.reduce((sum, { moves }) => sum + Number(moves), 0),
    upTo: Number(last.last_move),
    mappings: rows.map(movedMappings.read),
  };
}

/** Records that all moves up to that number are compared, and their findings are recorded. Never goes back. */
function* finishMoves(upTo: number): Query<void> {
  yield* change(`UPDATE watched_moves SET last_move = ? WHERE last_move < ?`, upTo, upTo);
}

/** What the copy knows about these master hotels. */
function* readMasterHotels(serviceIds: readonly number[]): Query<Map<number, MasterHotel>> {
  const { isListed } = yield* database();
  const masters = new Map<number, MasterHotel & { readonly left: LeftHotel[] }>();
  if (serviceIds.length === 0) return masters;
  const mapped = isListed('service_id', serviceIds);
  const counts = yield* all(
    `SELECT service_id, count(*) AS hotels FROM mappings WHERE ${mapped.sql} GROUP BY service_id`,
    ...mapped.values,
  );
  for (const { service_id, hotels } of counts)
    masters.set(Number(service_id), { hotels: Number(hotels), left: [] });
  const moved = isListed('from_service_id', serviceIds);
  const rows = yield* all(
    `SELECT DISTINCT from_service_id, mappings.number, provider_name, service_id AS copy_service_id
     FROM mapping_moves JOIN mappings ON mappings.number = mapping
     WHERE ${moved.sql} AND (service_id IS NULL OR service_id <> from_service_id)`,
    ...moved.values,
  );
  for (const row of rows) {
    const serviceId = Number(row.from_service_id);
    const master = masters.get(serviceId) ?? { hotels: 0, left: [] };
    masters.set(serviceId, master);
    master.left.push(leftHotels.read(row));
  }
  return masters;
}

/** What the copy knows about a master hotel. */
export interface MasterHotel {
  /** How many provider hotels are mapped to it. */
  readonly hotels: number;
  /** The provider hotels that are no longer mapped to it. */
  readonly left: readonly LeftHotel[];
}

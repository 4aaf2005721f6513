import type {
  CopiedMapping,
  MappingMove,
  MappingSummary,
  MappingSync,
  NewMasterHotel,
} from '../mappings/mapping-copy.js';
import { readColumns, type StoredRow } from './stored-row.js';
import { withoutUndefined } from './without-undefined.js';

/** What `toMapping` reads. */
export const mappingColumns =
  'number, provider_name, provider_hotel_id, service_id, location_code, channel_ids, first_seen_at, moved_at';

/** A row of the table of mappings. */
export function toMapping(row: StoredRow): CopiedMapping {
  return {
    number: Number(row.number),
    providerName: String(row.provider_name),
    providerHotelId: String(row.provider_hotel_id),
    ...(row.service_id !== null && { serviceId: Number(row.service_id) }),
    ...(row.location_code !== null && { locationCode: String(row.location_code) }),
    channelIds: JSON.parse(String(row.channel_ids)) as string[],
    firstSeenAt: Number(row.first_seen_at),
    ...(row.moved_at !== null && { movedAt: Number(row.moved_at) }),
  };
}

/** A row of the table of moves. */
export function toMove(row: StoredRow): MappingMove {
  const { integer } = readColumns(row);
  return withoutUndefined({
    from: integer('from_service_id'),
    to: integer('to_service_id'),
    seenAt: Number(row.seen_at),
  });
}

/** By the number of each mapping, the master hotels that it left. */
export function toLeftHotels(moves: readonly StoredRow[]): ReadonlyMap<number, ReadonlySet<number>> {
  const left = new Map<number, Set<number>>();
  for (const { mapping, from_service_id } of moves) {
    const ofMapping = left.get(Number(mapping)) ?? new Set();
    left.set(Number(mapping), ofMapping.add(Number(from_service_id)));
  }
  return left;
}

/** A row of the table of master hotels. */
export function toNewHotel(row: StoredRow): NewMasterHotel {
  return {
    number: Number(row.number),
    serviceId: Number(row.service_id),
    providerName: String(row.provider_name),
    providerHotelId: String(row.provider_hotel_id),
    seenAt: Number(row.seen_at),
  };
}

export function toSummary(
  totals: StoredRow | undefined,
  providers: readonly StoredRow[],
  syncs: readonly MappingSync[],
): MappingSummary {
  return {
    mappings: Number(totals?.mappings),
    masterHotels: Number(totals?.master_hotels),
    deleted: Number(totals?.deleted),
    providers: providers.map((row) => ({
      providerName: String(row.provider_name),
      mappings: Number(row.mappings),
    })),
    syncs,
  };
}

import type { CopiedMapping, MappingRow } from '../../mappings/mapping-copy.js';
import {
  changesOf,
  findDoubted,
  type HeldMappings,
  type MappingChanges,
  type PageTime,
} from '../mapping-changes.js';
import { toLeftHotels } from '../stored-mapping.js';
import type { Database } from './database.js';
import { lookUp } from './mapping-look-up.js';

/** Writes what the rows of a page change, and answers it. Done inside a transaction. */
export function storeRows(database: Database, rows: readonly MappingRow[], time: PageTime): MappingChanges {
  const changes = changesOf(readHeld(database, rows), rows, time);
  for (const mapping of changes.inserted) {
    database.run(
      `INSERT INTO mappings
         (service_id, location_code, channel_ids, first_seen_at, moved_at, provider_name, provider_hotel_id, number)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...changing(mapping),
      mapping.providerName,
      mapping.providerHotelId,
      mapping.number,
    );
  }
  for (const mapping of changes.updated) {
    database.run(
      `UPDATE mappings SET service_id = ?, location_code = ?, channel_ids = ?, first_seen_at = ?, moved_at = ?
       WHERE number = ?`,
      ...changing(mapping),
      mapping.number,
    );
  }
  for (const { number, from, to, seenAt } of changes.moves) {
    database.run(
      'INSERT INTO mapping_moves (mapping, from_service_id, to_service_id, seen_at) VALUES (?, ?, ?, ?)',
      number,
      from ?? null,
      to ?? null,
      seenAt,
    );
  }
  for (const { number, serviceId, providerName, providerHotelId, seenAt } of changes.newHotels) {
    database.run(
      `INSERT INTO master_hotels (number, service_id, provider_name, provider_hotel_id, seen_at)
       VALUES (?, ?, ?, ?, ?)`,
      number,
      serviceId,
      providerName,
      providerHotelId,
      seenAt,
    );
  }
  return changes;
}

function readHeld(database: Database, rows: readonly MappingRow[]): HeldMappings {
  const last = database.get(
    `SELECT (SELECT coalesce(max(number), 0) FROM mappings) AS mapping,
       (SELECT coalesce(max(number), 0) FROM master_hotels) AS hotel`,
  );
  const seen = database.all(
    'SELECT service_id FROM master_hotels WHERE service_id IN (SELECT value FROM json_each(?))',
    JSON.stringify(rows.map(({ serviceId }) => serviceId)),
  );
  const mappings = lookUp(database, rows).filter((mapping) => mapping !== undefined);
  const doubted = findDoubted(mappings, rows);
  const left =
    doubted.length === 0
      ? []
      : database.all(
          `SELECT mapping, from_service_id FROM mapping_moves
           WHERE mapping IN (SELECT value FROM json_each(?)) AND from_service_id IS NOT NULL`,
          JSON.stringify(doubted),
        );
  return {
    mappings,
    lastNumber: Number(last?.mapping),
    seenHotels: new Set(seen.map(({ service_id }) => Number(service_id))),
    lastHotelNumber: Number(last?.hotel),
    leftHotels: toLeftHotels(left),
  };
}

/** The columns that a page may change. */
function changing({ serviceId, locationCode, channelIds, firstSeenAt, movedAt }: CopiedMapping) {
  return [
    serviceId ?? null,
    locationCode ?? null,
    JSON.stringify(channelIds),
    firstSeenAt,
    movedAt ?? null,
  ] as const;
}

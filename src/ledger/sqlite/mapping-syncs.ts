import type {
  CopiedMapping,
  MappingRow,
  MappingSync,
  NewSync,
  StoredPage,
} from '../../mappings/mapping-copy.js';
import {
  changesOf,
  findDoubted,
  type HeldMappings,
  type MappingChanges,
  type PageTime,
  toStorablePage,
} from '../mapping-changes.js';
import {
  fingerprintOf,
  noSuchSync,
  overtaken,
  standsAt,
  toLeftHotels,
  toSync,
  turnOf,
} from '../stored-mapping.js';
import type { StoredRow } from '../stored-values.js';
import type { Database } from './database.js';
import { lookUp } from './mapping-look-up.js';

export function latestSync(database: Database, scope: string): MappingSync | undefined {
  const row = database.get('SELECT * FROM mapping_syncs WHERE scope = ? ORDER BY number DESC LIMIT 1', scope);
  return row && toSync(row);
}

export function latestSyncs(database: Database): MappingSync[] {
  return database
    .all(
      `SELECT * FROM mapping_syncs WHERE number IN (SELECT max(number) FROM mapping_syncs GROUP BY scope)
       ORDER BY scope`,
    )
    .map(toSync);
}

export function beginSync(
  database: Database,
  { scope, syncId, since, keepsSince, at }: NewSync,
): MappingSync {
  database.run(
    `UPDATE mapping_syncs SET given_up_at = ? WHERE scope = ? AND ended_at IS NULL AND given_up_at IS NULL`,
    at,
    scope,
  );
  database.run(
    'INSERT INTO mapping_syncs (scope, sync_id, since, keeps_since, begun_at) VALUES (?, ?, ?, ?, ?)',
    scope,
    syncId,
    since,
    keepsSince ?? null,
    at,
  );
  return toSync(readSync(database, syncId));
}

export function storePage(database: Database, received: StoredPage): MappingSync {
  const page = toStorablePage(received);
  const { syncId, resumeKey, rows, serviceBeganAt, at } = page;
  const before = readSync(database, syncId);
  const fingerprint = fingerprintOf(page);
  switch (turnOf(before, page, fingerprint)) {
    case 'stored':
      return toSync(before);
    case 'overtaken':
      throw overtaken(syncId);
    case 'next':
      break;
  }
  const { counts } = storeRows(database, rows, { at, cycleBegunAt: Number(before.begun_at) });
  database.run(
    `UPDATE mapping_syncs SET resume_key = ?, last_page = ?, ended_at = ?,
       service_began_at = coalesce(service_began_at, ?), pages = pages + 1, read = read + ?, added = added + ?,
       moved = moved + ?, updated = updated + ?, deleted = deleted + ?, unchanged = unchanged + ?,
       new_hotels = new_hotels + ?
     WHERE sync_id = ?`,
    resumeKey ?? null,
    fingerprint,
    resumeKey === undefined ? at : null,
    serviceBeganAt ?? null,
    counts.read,
    counts.added,
    counts.moved,
    counts.updated,
    counts.deleted,
    counts.unchanged,
    counts.newHotels,
    syncId,
  );
  return toSync(readSync(database, syncId));
}

export function restartSync(
  database: Database,
  { syncId, resumeKey }: Pick<MappingSync, 'syncId' | 'resumeKey'>,
): MappingSync {
  const before = readSync(database, syncId);
  if (!standsAt(before, resumeKey)) throw overtaken(syncId);
  database.run(
    'UPDATE mapping_syncs SET resume_key = NULL, last_page = NULL, restarts = restarts + 1 WHERE sync_id = ?',
    syncId,
  );
  return toSync(readSync(database, syncId));
}

function readSync(database: Database, syncId: string): StoredRow {
  const row = database.get('SELECT * FROM mapping_syncs WHERE sync_id = ?', syncId);
  if (!row) throw noSuchSync(syncId);
  return row;
}

/** Applies the rows of a page and returns what changed. Call it inside a transaction. */
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

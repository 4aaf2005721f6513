import type { MappingSync, NewSync, StoredPage } from '../../mappings/mapping-copy.js';
import { toStorablePage } from '../mapping-changes.js';
import type { StoredRow } from '../stored-row.js';
import { fingerprintOf, noSuchSync, overtaken, standsAt, toSync, turnOf } from '../stored-sync.js';
import type { Database } from './database.js';
import { storeRows } from './mapping-pages.js';

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

export function storePage(database: Database, told: StoredPage): MappingSync {
  const page = toStorablePage(told);
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

import {
  changesOf,
  findDoubted,
  type HeldMappings,
  type PageTime,
  toStorablePage,
} from './mapping-changes.js';
import {
  type CopiedMapping,
  keptSkippedRows,
  type MappingSync,
  type NewSync,
  type SkippedRow,
  type StoredPage,
} from './mappings.js';
import { all, change, type Dialect, database, insert, one, type Query, update } from './query.js';
import {
  fingerprintOf,
  isAtKey,
  isOpen,
  noSuchSync,
  overtaken,
  toLeftHotels,
  toSync,
  turnOf,
} from './stored-mapping.js';
import type { StoredRow } from './stored-values.js';

/** Begins a cycle, unless an earlier try has begun this same one. */
export function* beginSync({ scope, syncId, since, keepsSince, at }: NewSync): Query<MappingSync> {
  yield* lockCopy();
  const { mayBeDone } = yield* database();
  const begun = mayBeDone ? yield* findSync(syncId) : undefined;
  if (begun) return toSync(begun);
  yield* change(
    `UPDATE mapping_syncs SET given_up_at = ?
     WHERE scope = ? AND ended_at IS NULL AND given_up_at IS NULL`,
    at,
    scope,
  );
  yield* change(
    `INSERT INTO mapping_syncs (scope, sync_id, since, keeps_since, begun_at) VALUES (?, ?, ?, ?, ?)`,
    scope,
    syncId,
    since,
    keepsSince ?? null,
    at,
  );
  return toSync(yield* readSync(syncId));
}

export function* storePage(received: StoredPage): Query<MappingSync> {
  const dialect = yield* database();
  const page = toStorablePage(received);
  const { syncId, resumeKey, rows, skipped = [], serviceBeganAt, at } = page;
  yield* lockCopy();
  const before = yield* readSync(syncId);
  const fingerprint = fingerprintOf(page);
  switch (turnOf(before, page, fingerprint)) {
    case 'stored':
      return toSync(before);
    case 'overtaken':
      throw overtaken(syncId);
    case 'next':
      break;
  }
  const counts = yield* storeRows(dialect, rows, { at, cycleBegunAt: Number(before.begun_at) });
  if (skipped.length > 0) yield* keepSkipped(skipped, { scope: String(before.scope), syncId, at });
  yield* change(
    `UPDATE mapping_syncs SET resume_key = ?, last_page = ?, ended_at = ?,
       service_began_at = coalesce(service_began_at, ?), pages = pages + 1, read = read + ?, added = added + ?,
       moved = moved + ?, updated = updated + ?, deleted = deleted + ?, unchanged = unchanged + ?,
       skipped = skipped + ?, new_hotels = new_hotels + ?
     WHERE sync_id = ?`,
    resumeKey ?? null,
    fingerprint,
    resumeKey === undefined ? at : null,
    serviceBeganAt ?? null,
    counts.read + skipped.length,
    counts.added,
    counts.moved,
    counts.updated,
    counts.deleted,
    counts.unchanged,
    skipped.length,
    counts.newHotels,
    syncId,
  );
  return toSync(yield* readSync(syncId));
}

/** Restarts a cycle, unless an earlier try has done so already. */
export function* restartSync({
  syncId,
  resumeKey,
}: Pick<MappingSync, 'syncId' | 'resumeKey'>): Query<MappingSync> {
  yield* lockCopy();
  const before = yield* readSync(syncId);
  const { mayBeDone } = yield* database();
  if (mayBeDone && isOpen(before) && before.last_page === null && Number(before.restarts) > 0) {
    return toSync(before);
  }
  if (!isAtKey(before, resumeKey)) throw overtaken(syncId);
  // The restarted cycle reports them again.
  yield* change(`DELETE FROM skipped_mappings WHERE sync_id = ?`, syncId);
  yield* change(
    `UPDATE mapping_syncs SET resume_key = NULL, last_page = NULL, restarts = restarts + 1
     WHERE sync_id = ?`,
    syncId,
  );
  return toSync(yield* readSync(syncId));
}

/** Serialises writers of the copy, so that mappings are numbered without gaps and none is inserted twice. */
function* lockCopy(): Query<void> {
  const { lockMappings } = yield* database();
  if (lockMappings !== undefined) yield* one(lockMappings);
}

function* readSync(syncId: string): Query<StoredRow> {
  const row = yield* findSync(syncId);
  if (!row) throw noSuchSync(syncId);
  return row;
}

function findSync(syncId: string): Query<StoredRow | undefined> {
  return one(`SELECT * FROM mapping_syncs WHERE sync_id = ?`, syncId);
}

/** Applies the rows of a page and returns what to add to the cycle's counts. */
function* storeRows(_dialect: Dialect, rows: StoredPage['rows'], time: PageTime) {
  const changes = changesOf(yield* readHeld(rows), rows, time);
  const { inserted, updated, moves, newHotels, counts } = changes;
  if (inserted.length > 0) {
    yield* insert(
      'mappings',
      {
        ...changedColumns,
        ...({ provider_name: 'text', provider_hotel_id: 'text', first_seen_at: 'bigint' } as const),
      },
      inserted.map((mapping) => [
        ...changedCells(mapping),
        mapping.providerName,
        mapping.providerHotelId,
        mapping.firstSeenAt,
      ]),
    );
  }
  if (updated.length > 0) yield* update('mappings', changedColumns, updated.map(changedCells));
  if (moves.length > 0) {
    yield* insert(
      'mapping_moves',
      { mapping: 'bigint', from_service_id: 'bigint', to_service_id: 'bigint', seen_at: 'bigint' },
      moves.map(({ number, from, to, seenAt }) => [number, from ?? null, to ?? null, seenAt]),
    );
  }
  if (newHotels.length > 0) {
    yield* insert(
      'master_hotels',
      {
        ...({ number: 'bigint', service_id: 'bigint', seen_at: 'bigint' } as const),
        ...({ provider_name: 'text', provider_hotel_id: 'text' } as const),
      },
      newHotels.map(({ number, serviceId, seenAt, providerName, providerHotelId }) => [
        ...[number, serviceId, seenAt],
        ...[providerName, providerHotelId],
      ]),
    );
  }
  return counts;
}

/** Stores records that could not be read, and removes the oldest beyond the limit. */
function* keepSkipped(
  skipped: readonly SkippedRow[],
  { scope, syncId, at }: { readonly scope: string; readonly syncId: string; readonly at: number },
): Query<void> {
  yield* insert(
    'skipped_mappings',
    { scope: 'text', sync_id: 'text', seen_at: 'bigint', reason: 'text', record: 'text' },
    skipped.map(({ reason, record }) => [scope, syncId, at, reason, record]),
  );
  yield* change(
    `DELETE FROM skipped_mappings
     WHERE number <= (SELECT max(number) FROM skipped_mappings) - ${keptSkippedRows}`,
  );
}

/** What a page may change of a mapping, after the mapping's number. */
const changedColumns = {
  number: 'bigint',
  service_id: 'bigint',
  location_code: 'text',
  channel_ids: 'text',
  moved_at: 'bigint',
} as const;

function changedCells({ number, serviceId, locationCode, channelIds, movedAt }: CopiedMapping) {
  return [number, serviceId ?? null, locationCode ?? null, JSON.stringify(channelIds), movedAt ?? null];
}

function* readHeld(rows: StoredPage['rows']): Query<HeldMappings> {
  const dialect = yield* database();
  const last = yield* one(
    `SELECT (SELECT coalesce(max(number), 0) FROM mappings) AS mapping,
       (SELECT coalesce(max(number), 0) FROM master_hotels) AS hotel`,
  );
  const ofPage = dialect.isListed(
    'service_id',
    rows.flatMap(({ serviceId }) => serviceId ?? []),
  );
  const seen = yield* all(`SELECT service_id FROM master_hotels WHERE ${ofPage.sql}`, ...ofPage.values);
  const mappings = (yield* dialect.lookUp(rows)).filter((mapping) => mapping !== undefined);
  const doubted = findDoubted(mappings, rows);
  const ofDoubted = dialect.isListed('mapping', doubted);
  const left =
    doubted.length === 0
      ? []
      : yield* all(
          `SELECT mapping, from_service_id FROM mapping_moves
           WHERE ${ofDoubted.sql} AND from_service_id IS NOT NULL`,
          ...ofDoubted.values,
        );
  return {
    mappings,
    lastNumber: Number(last?.mapping),
    seenHotels: new Set(seen.map(({ service_id }) => Number(service_id))),
    lastHotelNumber: Number(last?.hotel),
    leftHotels: toLeftHotels(left),
  };
}

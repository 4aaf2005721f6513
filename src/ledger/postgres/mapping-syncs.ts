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
  isOpen,
  noSuchSync,
  overtaken,
  standsAt,
  toLeftHotels,
  toSync,
  turnOf,
} from '../stored-mapping.js';
import type { StoredRow } from '../stored-values.js';
import { lookUp } from './mapping-look-up.js';
import type { Session } from './session.js';

/** One lock for all writers of the copy, whatever their scope: the letters `maps`. */
const copyLock = 0x6d_61_70_73;

export async function latestSync(session: Session, scope: string): Promise<MappingSync | undefined> {
  const row = await session.row(
    'SELECT * FROM hotel_review.mapping_syncs WHERE scope = $1 ORDER BY number DESC LIMIT 1',
    scope,
  );
  return row && toSync(row);
}

export async function latestSyncs(session: Session): Promise<MappingSync[]> {
  const rows = await session.rows(
    'SELECT DISTINCT ON (scope) * FROM hotel_review.mapping_syncs ORDER BY scope, number DESC',
  );
  return rows.map(toSync);
}

/** Call it inside a transaction. */
export async function beginSync(
  session: Session,
  { scope, syncId, since, keepsSince, at }: NewSync,
  mayBeDone: boolean,
): Promise<MappingSync> {
  await lockCopy(session);
  const begun = mayBeDone ? await findSync(session, syncId) : undefined;
  if (begun) return toSync(begun);
  await session.run(
    `UPDATE hotel_review.mapping_syncs SET given_up_at = $1
     WHERE scope = $2 AND ended_at IS NULL AND given_up_at IS NULL`,
    at,
    scope,
  );
  await session.run(
    `INSERT INTO hotel_review.mapping_syncs (scope, sync_id, since, keeps_since, begun_at)
     VALUES ($1, $2, $3, $4, $5)`,
    scope,
    syncId,
    since,
    keepsSince ?? null,
    at,
  );
  return toSync(await readSync(session, syncId));
}

/** Call it inside a transaction. */
export async function storePage(session: Session, received: StoredPage): Promise<MappingSync> {
  const page = toStorablePage(received);
  const { syncId, resumeKey, rows, serviceBeganAt, at } = page;
  await lockCopy(session);
  const before = await readSync(session, syncId);
  const fingerprint = fingerprintOf(page);
  switch (turnOf(before, page, fingerprint)) {
    case 'stored':
      return toSync(before);
    case 'overtaken':
      throw overtaken(syncId);
    case 'next':
      break;
  }
  const { counts } = await storeRows(session, rows, { at, cycleBegunAt: Number(before.begun_at) });
  await session.run(
    `UPDATE hotel_review.mapping_syncs SET resume_key = $1, last_page = $2, ended_at = $3,
       service_began_at = coalesce(service_began_at, $4), pages = pages + 1, read = read + $5, added = added + $6,
       moved = moved + $7, updated = updated + $8, deleted = deleted + $9, unchanged = unchanged + $10,
       new_hotels = new_hotels + $11
     WHERE sync_id = $12`,
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
  return toSync(await readSync(session, syncId));
}

/** Call it inside a transaction. */
export async function restartSync(
  session: Session,
  { syncId, resumeKey }: Pick<MappingSync, 'syncId' | 'resumeKey'>,
  mayBeDone: boolean,
): Promise<MappingSync> {
  await lockCopy(session);
  const before = await readSync(session, syncId);
  if (mayBeDone && isOpen(before) && before.last_page === null && Number(before.restarts) > 0) {
    return toSync(before);
  }
  if (!standsAt(before, resumeKey)) throw overtaken(syncId);
  await session.run(
    `UPDATE hotel_review.mapping_syncs SET resume_key = NULL, last_page = NULL, restarts = restarts + 1
     WHERE sync_id = $1`,
    syncId,
  );
  return toSync(await readSync(session, syncId));
}

/** Serialises writers of the copy, so that mappings are numbered without gaps and none is inserted twice. */
async function lockCopy(session: Session): Promise<void> {
  await session.run('SELECT pg_advisory_xact_lock($1)', copyLock);
}

async function readSync(session: Session, syncId: string): Promise<StoredRow> {
  const row = await findSync(session, syncId);
  if (!row) throw noSuchSync(syncId);
  return row;
}

function findSync(session: Session, syncId: string): Promise<StoredRow | undefined> {
  return session.row('SELECT * FROM hotel_review.mapping_syncs WHERE sync_id = $1', syncId);
}

/** Applies the rows of a page and returns what changed. Call it inside a transaction that holds the write lock. */
export async function storeRows(
  session: Session,
  rows: readonly MappingRow[],
  time: PageTime,
): Promise<MappingChanges> {
  const changes = changesOf(await readHeld(session, rows), rows, time);
  const { inserted, updated, moves, newHotels } = changes;
  if (inserted.length > 0) {
    await session.copy(
      `hotel_review.mappings
         (number, provider_name, provider_hotel_id, service_id, location_code, channel_ids, first_seen_at, moved_at)`,
      inserted.map((mapping) => [
        { bigint: mapping.number },
        { text: mapping.providerName },
        { text: mapping.providerHotelId },
        { bigint: mapping.serviceId ?? null },
        { text: mapping.locationCode ?? null },
        { text: JSON.stringify(mapping.channelIds) },
        { bigint: mapping.firstSeenAt },
        { bigint: mapping.movedAt ?? null },
      ]),
    );
  }
  if (updated.length > 0) await updateMappings(session, updated);
  if (moves.length > 0) {
    await session.copy(
      'hotel_review.mapping_moves (mapping, from_service_id, to_service_id, seen_at)',
      moves.map(({ number, from, to, seenAt }) => [
        { bigint: number },
        { bigint: from ?? null },
        { bigint: to ?? null },
        { bigint: seenAt },
      ]),
    );
  }
  if (newHotels.length > 0) {
    await session.copy(
      'hotel_review.master_hotels (number, service_id, provider_name, provider_hotel_id, seen_at)',
      newHotels.map(({ number, serviceId, providerName, providerHotelId, seenAt }) => [
        { bigint: number },
        { bigint: serviceId },
        { text: providerName },
        { text: providerHotelId },
        { bigint: seenAt },
      ]),
    );
  }
  return changes;
}

function updateMappings(session: Session, updated: readonly CopiedMapping[]): Promise<number> {
  return session.run(
    `UPDATE hotel_review.mappings SET service_id = changed.service_id, location_code = changed.location_code,
       channel_ids = changed.channel_ids, moved_at = changed.moved_at
     FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
       AS changed (number, service_id, location_code, channel_ids, moved_at)
     WHERE mappings.number = changed.number`,
    updated.map(({ number }) => number),
    updated.map(({ serviceId }) => serviceId ?? null),
    updated.map(({ locationCode }) => locationCode ?? null),
    updated.map(({ channelIds }) => JSON.stringify(channelIds)),
    updated.map(({ movedAt }) => movedAt ?? null),
  );
}

async function readHeld(session: Session, rows: readonly MappingRow[]): Promise<HeldMappings> {
  const last = await session.row(
    `SELECT (SELECT coalesce(max(number), 0) FROM hotel_review.mappings) AS mapping,
       (SELECT coalesce(max(number), 0) FROM hotel_review.master_hotels) AS hotel`,
  );
  const seen = await session.rows(
    'SELECT service_id FROM hotel_review.master_hotels WHERE service_id = ANY ($1::bigint[])',
    rows.map(({ serviceId }) => serviceId),
  );
  const mappings = (await lookUp(session, rows)).filter((mapping) => mapping !== undefined);
  const doubted = findDoubted(mappings, rows);
  const left =
    doubted.length === 0
      ? []
      : await session.rows(
          `SELECT mapping, from_service_id FROM hotel_review.mapping_moves
           WHERE mapping = ANY ($1::bigint[]) AND from_service_id IS NOT NULL`,
          doubted,
        );
  return {
    mappings,
    lastNumber: Number(last?.mapping),
    seenHotels: new Set(seen.map(({ service_id }) => Number(service_id))),
    lastHotelNumber: Number(last?.hotel),
    leftHotels: toLeftHotels(left),
  };
}

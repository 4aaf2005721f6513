import type { MappingSync, NewSync, StoredPage } from '../../mappings/mapping-copy.js';
import { toStorablePage } from '../mapping-changes.js';
import type { StoredRow } from '../stored-row.js';
import { fingerprintOf, isOpen, noSuchSync, overtaken, standsAt, toSync, turnOf } from '../stored-sync.js';
import { storeRows } from './mapping-pages.js';
import type { Session } from './session.js';

/** One lock for all who write to the copy, whatever their scope: the letters `maps`. */
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

/** Done inside a transaction. */
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

/** Done inside a transaction. */
export async function storePage(session: Session, told: StoredPage): Promise<MappingSync> {
  const page = toStorablePage(told);
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

/** Done inside a transaction. */
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

/** Whoever writes to the copy does so alone: mappings are numbered without gaps, and none is met twice. */
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

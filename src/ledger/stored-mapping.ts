import { createHash } from 'node:crypto';
import { SafeError } from '../text/safe-error.js';
import type {
  CopiedMapping,
  KeptSkippedRow,
  MappingMove,
  MappingSummary,
  MappingSync,
  NewMasterHotel,
  StoredPage,
} from './mappings.js';
import { readColumns, type StoredRow, withoutUndefined } from './stored-values.js';

/** The columns that `toMapping` reads. */
export const mappingColumns =
  'number, provider_name, provider_hotel_id, service_id, location_code, channel_ids, first_seen_at, moved_at';

/** Reads a row of the table of mappings. */
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

/** Reads a row of the table of moves. */
export function toMove(row: StoredRow): MappingMove {
  const { integer } = readColumns(row);
  return withoutUndefined({
    from: integer('from_service_id'),
    to: integer('to_service_id'),
    seenAt: Number(row.seen_at),
  });
}

/** The master hotels that each mapping left, by the mapping's number. */
export function toLeftHotels(moves: readonly StoredRow[]): ReadonlyMap<number, ReadonlySet<number>> {
  const left = new Map<number, Set<number>>();
  for (const { mapping, from_service_id } of moves) {
    const ofMapping = left.get(Number(mapping)) ?? new Set();
    left.set(Number(mapping), ofMapping.add(Number(from_service_id)));
  }
  return left;
}

/** Reads a row of the table of master hotels. */
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
): Omit<MappingSummary, 'keptSkipped' | 'lastSkipped'> {
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

/** Reads a row of the table of records that could not be read. */
export function toSkippedRow(row: StoredRow): KeptSkippedRow {
  return {
    scope: String(row.scope),
    seenAt: Number(row.seen_at),
    reason: String(row.reason),
    record: String(row.record),
  };
}

/** Reads a row of the table of cycles. */
export function toSync(row: StoredRow): MappingSync {
  const { integer, text } = readColumns(row);
  const count = (name: string) => Number(row[name]);
  return withoutUndefined({
    scope: String(row.scope),
    syncId: String(row.sync_id),
    since: Number(row.since),
    keepsSince: integer('keeps_since'),
    at: Number(row.begun_at),
    resumeKey: text('resume_key'),
    serviceBeganAt: integer('service_began_at'),
    endedAt: integer('ended_at'),
    counts: {
      pages: count('pages'),
      read: count('read'),
      added: count('added'),
      moved: count('moved'),
      updated: count('updated'),
      deleted: count('deleted'),
      unchanged: count('unchanged'),
      skipped: count('skipped'),
      newHotels: count('new_hotels'),
      restarts: count('restarts'),
    },
  });
}

/** How a page to be stored relates to the state of its cycle. */
export type PageTurn = 'next' | 'stored' | 'overtaken';

/** Decides that from the row of the cycle and the page's `fingerprintOf`. */
export function turnOf(row: StoredRow, page: StoredPage, fingerprint: string): PageTurn {
  if (row.last_page === fingerprint) return 'stored';
  return isAtKey(row, page.after) ? 'next' : 'overtaken';
}

/** Whether the cycle is at that key. */
export function isAtKey(row: StoredRow, resumeKey: string | undefined): boolean {
  return isOpen(row) && row.resume_key === (resumeKey ?? null);
}

/** Whether a cycle has neither ended nor been abandoned. */
export function isOpen(row: StoredRow): boolean {
  return row.ended_at === null && row.given_up_at === null;
}

/**
 * Distinguishes a page from others of its cycle. Its keys alone don't: a service may use one key for all pages. The time
 * when it was fetched makes no difference.
 */
export function fingerprintOf({ after, resumeKey, rows, skipped = [] }: StoredPage): string {
  return createHash('sha256')
    .update(
      JSON.stringify([after ?? null, resumeKey ?? null, rows, ...(skipped.length > 0 ? [skipped] : [])]),
    )
    .digest('hex');
}

export function overtaken(syncId: string): SyncOvertakenError {
  return new SyncOvertakenError(
    `another process has continued the sync ${syncId} or started another one; this process stops`,
  );
}

export function noSuchSync(syncId: string): RangeError {
  return new RangeError(`no sync ${syncId} in the ledger`);
}

/** Another process has continued the cycle. */
export class SyncOvertakenError extends SafeError {
  override readonly name = 'SyncOvertakenError';
}

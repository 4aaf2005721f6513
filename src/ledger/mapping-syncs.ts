import type { NewNotice } from '../rules/notice.js';
import { SyncOvertakenError } from './errors.js';
import {
  type CopiedMapping,
  copied,
  keptSkippedRows,
  keyOfHotel,
  lookUp,
  type MappingMove,
  type MappingRow,
  type MappingSync,
  mappingMoves,
  masterHotels,
  type NewMasterHotel,
  type NewSync,
  type ReportedRow,
  type StoredPage,
  skippedMappings,
  syncs,
  toStorableHotel,
  toSync,
} from './mappings.js';
import { raise } from './notices.js';
import {
  all,
  change,
  count,
  database,
  type Query,
  sql,
  takeTurns,
  toStorable,
  update,
  withoutUndefined,
  writes,
} from './query.js';
import type * as t from './table.js';

/** Begins a cycle. */
export const beginSync = writes(function* ({
  scope,
  syncId,
  since,
  keepsSince,
  at,
}: NewSync): Query<MappingSync> {
  // So that mappings are numbered without gaps and none is inserted twice.
  yield* takeTurns('mappings');
  yield* change(
    sql`UPDATE ${syncs} SET given_up_at = ${at}
     WHERE scope = ${scope} AND ended_at IS NULL AND given_up_at IS NULL`,
  );
  // Of any scope: the limit is the account's.
  const last = yield* syncs.find(sql`ORDER BY number DESC LIMIT 1`);
  yield* syncs.add({ scope, syncId, since, keepsSince, at, pageLimit: last?.pageLimit });
  return toSync(yield* readSync(syncId));
});

/**
 * Stores a page's rows, its resume key and the cycle's counts in one transaction; a page without a key ends the cycle.
 *
 * @throws SyncOvertakenError when the cycle is no longer at `after`: another process has continued it
 */
export const storePage = writes(function* (received: StoredPage): Query<MappingSync> {
  const page = toStorablePage(received);
  const { syncId, resumeKey, isPart = false, rows, skipped = [], serviceBeganAt, pageLimit, at } = page;
  yield* takeTurns('mappings');
  const before = yield* readSync(syncId);
  if (!isAtKey(before, page.after)) throw overtaken(syncId);
  const counts = yield* storeRows(rows, at, before.at);
  if (skipped.length > 0) {
    const { scope } = before;
    yield* skippedMappings.insert(skipped.map((row) => ({ ...row, scope, syncId, seenAt: at })));
    yield* change(
      sql`DELETE FROM ${skippedMappings}
       WHERE number <= (SELECT max(number) FROM ${skippedMappings}) - ${keptSkippedRows}`,
    );
  }
  yield* change(
    sql`UPDATE ${syncs} SET
       resume_key = ${(isPart ? page.after : resumeKey) ?? null}, ended_at = ${resumeKey === undefined && !isPart ? at : null},
       service_began_at = coalesce(service_began_at, ${serviceBeganAt ?? null}),
       page_limit = coalesce(${pageLimit ?? null}, page_limit),
       pages = pages + ${isPart ? 0 : 1}, read = read + ${counts.read + skipped.length},
       added = added + ${counts.added}, moved = moved + ${counts.moved}, updated = updated + ${counts.updated},
       deleted = deleted + ${counts.deleted}, unchanged = unchanged + ${counts.unchanged},
       skipped = skipped + ${skipped.length}, new_hotels = new_hotels + ${counts.newHotels}
     WHERE sync_id = ${syncId}`,
  );
  const sync = toSync(yield* readSync(syncId));
  yield* raise(noticesOfSync(sync));
  return sync;
});

/** What people are told of a cycle that has ended. */
function noticesOfSync({ syncId, endedAt, counts }: MappingSync): NewNotice[] {
  const { newHotels, added, moved, deleted } = counts;
  if (endedAt === undefined || newHotels === 0) return [];
  const facts = { newHotels, added, moved, deleted };
  return [{ event: 'mappings-synced', subject: syncId, facts, raisedAt: endedAt }];
}

/** Restarts a cycle. */
export const restartSync = writes(function* ({
  syncId,
  resumeKey,
}: Pick<MappingSync, 'syncId' | 'resumeKey'>): Query<MappingSync> {
  yield* takeTurns('mappings');
  const before = yield* readSync(syncId);
  if (!isAtKey(before, resumeKey)) throw overtaken(syncId);
  // The restarted cycle reports them again.
  yield* change(sql`DELETE FROM ${skippedMappings} WHERE sync_id = ${syncId}`);
  yield* change(
    sql`UPDATE ${syncs} SET resume_key = NULL, restarts = restarts + 1
     WHERE sync_id = ${syncId}`,
  );
  return toSync(yield* readSync(syncId));
});

function* readSync(syncId: string): Query<t.Row<typeof syncs>> {
  const row = yield* syncs.find(sql`WHERE sync_id = ${syncId}`);
  if (!row) throw new RangeError(`no sync ${syncId} in the ledger`);
  return row;
}

/** What a page may change of a mapping; the first identifies it. */
const changed = copied.only('number', 'serviceId', 'locationCode', 'channelIds', 'movedAt');

/** Applies the rows of a page and returns what to add to the cycle's counts. @param at when the page is stored */
function* storeRows(rows: readonly ReportedRow[], at: number, cycleBegunAt: number) {
  const changes = changesOf(yield* readHeld(rows), rows, at, cycleBegunAt);
  const { inserted, updated, moves, newHotels, counts } = changes;
  yield* copied.insert(inserted);
  if (updated.length > 0) yield* update(copied, changed.types, updated.map(changed.cellsOf));
  yield* mappingMoves.insert(
    moves.map(({ number, from, to, seenAt }) => ({
      mapping: number,
      fromServiceId: from,
      toServiceId: to,
      seenAt,
    })),
  );
  yield* masterHotels.insert(newHotels);
  return counts;
}

/** What the copy already holds about a page's provider hotels and master hotels. */
function* readHeld(rows: readonly ReportedRow[]) {
  const dialect = yield* database();
  const ofPage = dialect.isListed(
    sql`service_id`,
    rows.flatMap(({ serviceId }) => serviceId ?? []),
  );
  const seen = yield* masterHotels.list(sql`WHERE ${ofPage}`);
  const mappings = (yield* lookUp(rows)).filter((mapping) => mapping !== undefined);
  const doubted = findDoubted(mappings, rows);
  const left =
    doubted.length === 0
      ? []
      : yield* all<{ readonly mapping: number; readonly fromServiceId: number }>(
          sql`SELECT mapping, from_service_id FROM ${mappingMoves}
           WHERE ${dialect.isListed(sql`mapping`, doubted)} AND from_service_id IS NOT NULL`,
        );
  // The master hotels that each mapping left, by the mapping's number.
  const leftHotels = new Map<number, Set<number>>();
  for (const { mapping, fromServiceId } of left)
    leftHotels.set(mapping, (leftHotels.get(mapping) ?? new Set()).add(fromServiceId));
  return {
    mappings,
    /** The highest number of any mapping; 0 if there is none. */
    lastNumber: yield* count(sql`SELECT max(number) AS number FROM ${copied}`),
    /** Those of the page's master hotels that were seen before. */
    seenHotels: new Set(seen.map(({ serviceId }) => serviceId)),
    /** The highest number of any master hotel; 0 if there is none. */
    lastHotelNumber: yield* count(sql`SELECT max(number) AS number FROM ${masterHotels}`),
    leftHotels,
  };
}

/** Whether a cycle that has neither ended nor been abandoned is at that key. */
function isAtKey(sync: t.Row<typeof syncs>, resumeKey: string | undefined): boolean {
  return sync.endedAt === undefined && sync.givenUpAt === undefined && sync.resumeKey === resumeKey;
}

function overtaken(syncId: string): SyncOvertakenError {
  return new SyncOvertakenError(
    `another process has continued the sync ${syncId} or started another one; this process stops`,
  );
}

type HeldMappings = ReturnType<typeof readHeld> extends Query<infer Held> ? Held : never;

/** The page with its texts in stored form, so that they can be compared with stored ones. */
function toStorablePage(page: StoredPage): StoredPage {
  return withoutUndefined({
    ...page,
    after: toStorableWhere(page.after),
    resumeKey: toStorableWhere(page.resumeKey),
    rows: page.rows.map((row) =>
      withoutUndefined({
        ...row,
        ...toStorableHotel(row),
        locationCode: toStorableWhere(row.locationCode),
        channelIds: row.channelIds.map(toStorable),
      }),
    ),
  });
}

function toStorableWhere(text: string | undefined): string | undefined {
  return text === undefined ? undefined : toStorable(text);
}

/** The numbers of the mappings that the page deletes under a different master hotel than the copy has. */
function findDoubted(mappings: readonly CopiedMapping[], rows: readonly ReportedRow[]): readonly number[] {
  const current = new Map(mappings.map((mapping) => [keyOfHotel(mapping), mapping]));
  return rows.flatMap((row) => {
    const mapping = row.isDeleted ? current.get(keyOfHotel(row)) : undefined;
    return mapping && row.serviceId !== undefined && mapping.serviceId !== row.serviceId
      ? [mapping.number]
      : [];
  });
}

/**
 * Works out what a page changes, row by row: the same provider hotel may occur in it twice.
 *
 * A deletion that names a different master hotel than the copy has means one of two things. Either the mapping moved, and
 * its former place is reported as deleted: then nothing is deleted. Or it moved and was deleted since the last cycle, and
 * this is the only report of both: then it is deleted. The first applies if the copy knows that the mapping left that hotel,
 * or if this cycle has reported the mapping as current. Where the deletion names no master hotel, the latter alone decides.
 *
 * @param rows as `toStorablePage` makes them
 */
function changesOf(held: HeldMappings, rows: readonly ReportedRow[], at: number, cycleBegunAt: number) {
  const standing = new Set(rows.filter(({ isDeleted }) => !isDeleted).map(keyOfHotel));
  const current = new Map(held.mappings.map((mapping) => [keyOfHotel(mapping), mapping]));
  const changed = new Map<number, CopiedMapping>();
  const moves: (MappingMove & { readonly number: number })[] = [];
  const newHotels = new Map<number, NewMasterHotel>();
  const counts = { added: 0, moved: 0, updated: 0, deleted: 0, unchanged: 0 };
  let lastNumber = held.lastNumber;

  function keep(mapping: CopiedMapping): void {
    current.set(keyOfHotel(mapping), mapping);
    changed.set(mapping.number, mapping);
  }

  function change(row: ReportedRow): keyof typeof counts {
    const mapping = current.get(keyOfHotel(row));
    if (row.isDeleted) {
      if (mapping?.serviceId === undefined || isOfHotelLeft(row, mapping)) return 'unchanged';
      const { serviceId: from, ...rest } = mapping;
      keep({ ...rest, movedAt: at });
      moves.push({ number: mapping.number, from, seenAt: at });
      return 'deleted';
    }
    meetHotel(row);
    if (!mapping) {
      lastNumber += 1;
      keep(toMapping(row, { number: lastNumber, firstSeenAt: at }));
      return 'added';
    }
    if (mapping.serviceId !== row.serviceId) {
      keep(toMapping(row, { ...mapping, movedAt: at }));
      moves.push(
        withoutUndefined({ number: mapping.number, from: mapping.serviceId, to: row.serviceId, seenAt: at }),
      );
      return 'moved';
    }
    if (isSame(mapping, row)) return 'unchanged';
    keep(toMapping(row, mapping));
    return 'updated';
  }

  function isOfHotelLeft(
    row: ReportedRow,
    { number, serviceId, firstSeenAt, movedAt }: CopiedMapping,
  ): boolean {
    if (row.serviceId === serviceId) return false;
    const { serviceId: left } = row;
    const isKnown =
      left !== undefined &&
      (held.leftHotels.get(number)?.has(left) ||
        moves.some((move) => move.number === number && move.from === left));
    if (isKnown) return true;
    if (!standing.has(keyOfHotel(row)) && Math.max(firstSeenAt, movedAt ?? 0) < cycleBegunAt) return false;
    if (left === undefined) return true;
    // Kept, so that it is recognised when it reappears.
    moves.push(withoutUndefined({ number, from: left, to: serviceId, seenAt: at }));
    return true;
  }

  function meetHotel({ serviceId, providerName, providerHotelId }: MappingRow): void {
    if (held.seenHotels.has(serviceId) || newHotels.has(serviceId)) return;
    const number = held.lastHotelNumber + newHotels.size + 1;
    newHotels.set(serviceId, { number, serviceId, providerName, providerHotelId, seenAt: at });
  }

  for (const row of rows) counts[change(row)] += 1;
  const all = [...changed.values()];
  // Mappings and hotels as they are after the page, moves in the order in which they happened.
  return {
    inserted: all.filter(({ number }) => number > held.lastNumber),
    updated: all.filter(({ number }) => number <= held.lastNumber),
    moves,
    newHotels: [...newHotels.values()],
    counts: { read: rows.length, ...counts, newHotels: newHotels.size },
  };
}

function toMapping(
  { providerName, providerHotelId, serviceId, locationCode, channelIds }: MappingRow,
  {
    number,
    firstSeenAt,
    movedAt,
  }: { readonly number: number; readonly firstSeenAt: number; readonly movedAt?: number },
): CopiedMapping {
  return withoutUndefined({
    number,
    providerName,
    providerHotelId,
    serviceId,
    locationCode,
    channelIds,
    firstSeenAt,
    movedAt,
  });
}

function isSame(mapping: CopiedMapping, { locationCode, channelIds }: MappingRow): boolean {
  return (
    mapping.locationCode === locationCode &&
    mapping.channelIds.length === channelIds.length &&
    mapping.channelIds.every((channel, index) => channel === channelIds[index])
  );
}

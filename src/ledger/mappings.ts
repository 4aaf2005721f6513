import type { ProviderHotel } from '../booking/booking.js';
import type { ReadOnlyLedger } from './ledger.js';
import {
  all,
  change,
  count,
  database,
  exists,
  one,
  type Query,
  reads,
  readsTogether,
  type StoredRow,
  sql,
  toStorable,
  writes,
} from './query.js';
import * as t from './table.js';

/** The copy of the service's mappings. Their numbers are given by us, so that many are inserted at once. */
export const copied = t.table(
  'mappings',
  {
    /** Counted from 1 in the order of first sight, without large gaps. */
    number: t.bigint,
    providerName: t.text(),
    providerHotelId: t.text(),
    /** Absent once deleted. */
    serviceId: t.optional(t.bigint),
    locationCode: t.optional(t.text()),
    channelIds: t.json<readonly string[]>(),
    firstSeenAt: t.bigint,
    /** When it was last seen to move or to be deleted; absent if never. */
    movedAt: t.optional(t.bigint),
  },
  { key: 'number' },
);
export type CopiedMapping = t.Row<typeof copied>;

export const mappingMoves = t.table(
  'mapping_moves',
  {
    mapping: t.numberOf('mappings'),
    fromServiceId: t.optional(t.bigint),
    toServiceId: t.optional(t.bigint),
    seenAt: t.bigint,
  },
  { isNumbered: true, indexes: ['INDEX moves_by_mapping ON mapping_moves (mapping)'] },
);

/** The master hotels that a sync saw for the first time. */
export const masterHotels = t.table(
  'master_hotels',
  {
    number: t.bigint,
    serviceId: t.bigint,
    /** The mapping that introduced it. */
    providerName: t.text(),
    providerHotelId: t.text(),
    seenAt: t.bigint,
    /** When a list contained it first. */
    toldAt: t.optional(t.bigint),
  },
  {
    key: 'number',
    unique: ['service_id'],
    indexes: ['INDEX untold_hotels ON master_hotels (number) WHERE told_at IS NULL'],
  },
);
export type NewMasterHotel = Omit<t.Row<typeof masterHotels>, 'toldAt'>;

export const skippedMappings = t.table(
  'skipped_mappings',
  {
    scope: t.text(),
    syncId: t.text(),
    seenAt: t.bigint,
    /** What was expected; quotes no value. */
    reason: t.text(),
    /** As received: JSON, cut where it is long. */
    record: t.text(),
  },
  { isNumbered: true },
);

const cycle = {
  /** Which changes a cycle requests: those of one provider family, or of all where it is empty. */
  scope: t.text(),
  syncId: t.text(),
  /** The lower bound of changes. */
  since: t.bigint,
  /**
   * The lower bound for the next sync, where this one starts too late to follow the previous one; absent where the next
   * one starts where this one did.
   */
  keepsSince: t.optional(t.bigint),
  at: t.bigint,
  /** Key of the next page; absent at the start and at the end. */
  resumeKey: t.optional(t.text()),
  /** When the cycle began by the service's clock, if it sent the time: the next one's lower bound. */
  serviceBeganAt: t.optional(t.bigint),
  endedAt: t.optional(t.bigint),
  /** How many mappings per page the service answers, where it refuses more; a new cycle takes it over. */
  pageLimit: t.optional(t.bigint),
};
const total = t.byDefault(0, t.bigint);
const totals = {
  pages: total,
  /** All records, whatever their effect, with those that were skipped. */
  read: total,
  added: total,
  /** Provider hotels that moved to another master hotel or reappeared. */
  moved: total,
  /** Other changes: location, channels. */
  updated: total,
  deleted: total,
  unchanged: total,
  /** Records that could not be read. */
  skipped: total,
  /** Master hotels never seen before. */
  newHotels: total,
  /** How often the cycle had to restart. */
  restarts: total,
};
export const syncs = t.table(
  'mapping_syncs',
  { ...cycle, givenUpAt: t.optional(t.bigint), ...totals },
  {
    isNumbered: true,
    unique: ['sync_id'],
    indexes: [
      'INDEX syncs_by_scope ON mapping_syncs (scope, number)',
      `UNIQUE INDEX one_open_sync_per_scope ON mapping_syncs (scope)
        WHERE ended_at IS NULL AND given_up_at IS NULL`,
    ],
  },
);
const [cycleColumns, syncCounts] = [t.columnsOf(cycle), t.columnsOf(totals)];
export type SyncCounts = t.Row<typeof syncCounts>;

/** One cycle: all pages since a lower bound. */
export type MappingSync = t.Row<typeof cycleColumns> & { readonly counts: SyncCounts };
export type NewSync = Pick<MappingSync, 'scope' | 'syncId' | 'since' | 'keepsSince' | 'at'>;

export function toSync(row: StoredRow): MappingSync {
  return { ...cycleColumns.read(row), counts: syncCounts.read(row) };
}

/** The copy's mapping of each hotel, in the order of the request. */
export const lookUp = reads(function* (
  hotels: readonly ProviderHotel[],
): Query<(CopiedMapping | undefined)[]> {
  const { findMappings } = yield* database();
  const statement = findMappings(hotels.map(toStorableHotel));
  const { rows } = yield { kind: 'read', name: 'look up mappings', statement };
  const found = new Array<CopiedMapping | undefined>(hotels.length).fill(undefined);
  for (const row of rows) found[Number(row.ordinal)] = copied.read(row);
  return found;
});

/** A provider hotel in the form in which it is stored. */
export function toStorableHotel({ providerName, providerHotelId }: ProviderHotel): ProviderHotel {
  return { providerName: toStorable(providerName), providerHotelId: toStorable(providerHotelId) };
}

export const find = readsTogether(function* (
  hotel: ProviderHotel,
): Query<{ mapping: CopiedMapping; moves: readonly MappingMove[] } | undefined> {
  const { providerName, providerHotelId } = toStorableHotel(hotel);
  const mapping = yield* copied.find(
    sql`WHERE provider_name = ${providerName} AND provider_hotel_id = ${providerHotelId}`,
  );
  if (!mapping) return undefined;
  const moves = yield* all<MappingMove>(
    sql`SELECT from_service_id AS "from", to_service_id AS "to", seen_at FROM ${mappingMoves}
     WHERE mapping = ${mapping.number} ORDER BY number`,
  );
  return { mapping, moves };
});

export const summarise = readsTogether(function* (): Query<MappingSummary> {
  const totals = yield* one<Record<'mappings' | 'masterHotels' | 'deleted', number>>(
    sql`SELECT count(service_id) AS mappings, count(DISTINCT service_id) AS master_hotels,
       count(*) - count(service_id) AS deleted
     FROM ${copied}`,
  );
  const providers = yield* all<MappingSummary['providers'][number]>(
    sql`SELECT provider_name, count(*) AS mappings FROM ${copied} WHERE service_id IS NOT NULL
     GROUP BY provider_name ORDER BY provider_name`,
  );
  return {
    ...(totals ?? { mappings: 0, masterHotels: 0, deleted: 0 }),
    providers,
    syncs: yield* listSyncs(),
    keptSkipped: yield* count(sql`SELECT count(*) AS number FROM ${skippedMappings}`),
    lastSkipped: yield* skippedMappings.list(sql`ORDER BY number DESC LIMIT 100`),
  };
});

/** False once there are mappings to compare bookings with. */
export const isEmpty = reads(function* (): Query<boolean> {
  return !(yield* exists(sql`${copied}`));
});

/** Master hotels that no list has contained yet, in the order in which they were first seen. */
export const listNewHotels = reads(
  ({ after, limit }: { readonly after: number; readonly limit: number }): Query<NewMasterHotel[]> => {
    return masterHotels.list(sql`WHERE told_at IS NULL AND number > ${after} ORDER BY number LIMIT ${limit}`);
  },
);

/** Records that the new master hotels up to that number have been listed. */
export const markNewHotelsTold = writes(function* (upTo: number, at: number): Query<void> {
  yield* change(sql`UPDATE ${masterHotels} SET told_at = ${at} WHERE told_at IS NULL AND number <= ${upTo}`);
});

/** For `--json` and the desk; null stands for all providers, and for what has not happened. */
export function syncToJson({ syncId, scope, since, at, serviceBeganAt, endedAt, counts }: MappingSync) {
  return {
    syncId,
    providerFamily: scope === '' ? null : scope,
    since: new Date(since).toISOString(),
    startedAt: new Date(at).toISOString(),
    serviceStartedAt: serviceBeganAt === undefined ? null : new Date(serviceBeganAt).toISOString(),
    finishedAt: endedAt === undefined ? null : new Date(endedAt).toISOString(),
    ...counts,
  };
}

export interface StoredPage {
  readonly syncId: string;
  /** The key the page was requested with; absent for the first. */
  readonly after?: string;
  /** The key it contained; absent for the last. */
  readonly resumeKey?: string;
  /** More rows of the same page follow: the cycle stays at its key, and a page that was cut off is fetched again. */
  readonly isPart?: boolean;
  readonly rows: readonly ReportedRow[];
  /** Those that could not be read, stored with the page. The newest `keptSkippedRows` of all cycles are kept. */
  readonly skipped?: readonly { readonly reason: string; readonly record: string }[];
  /** From the first page that has it. */
  readonly serviceBeganAt?: number;
  /** Where this page was answered after a larger one was refused. */
  readonly pageLimit?: number;
  readonly at: number;
}

/** A unique key of a provider hotel: stored texts contain no NUL. */
export function keyOfHotel({ providerName, providerHotelId }: ProviderHotel): string {
  return `${providerName}\0${providerHotelId}`;
}

/** How many records that could not be read are kept; older ones are removed. */
export const keptSkippedRows = 10_000;

/** A change as the service reported it. */
export interface MappingRow extends ProviderHotel {
  readonly serviceId: number;
  readonly locationCode?: string;
  readonly channelIds: readonly string[];
  /**
   * The service deleted the mapping. Has no effect where the copy knows that the provider hotel has moved from this
   * master hotel to another one.
   */
  readonly isDeleted: boolean;
}

/** A row as the service reports it: it may delete the mapping of a provider hotel without saying which master hotel it named. */
export type ReportedRow =
  | MappingRow
  | (Omit<MappingRow, 'serviceId' | 'isDeleted'> & { readonly serviceId?: never; readonly isDeleted: true });

/** A provider hotel moved between master hotels; `from` is absent where it reappeared, `to` where it was deleted. */
export interface MappingMove {
  readonly from?: number;
  readonly to?: number;
  readonly seenAt: number;
}

/** For `--json` and the desk: a provider's hotel with its history. */
export function mappingToJson(mapping: CopiedMapping, moves: readonly MappingMove[]) {
  return {
    providerName: mapping.providerName,
    providerHotelId: mapping.providerHotelId,
    serviceId: mapping.serviceId ?? null,
    locationCode: mapping.locationCode ?? null,
    channelIds: mapping.channelIds,
    firstSeenAt: new Date(mapping.firstSeenAt).toISOString(),
    movedAt: mapping.movedAt === undefined ? null : new Date(mapping.movedAt).toISOString(),
    history: moves.map(({ from, to, seenAt }) => ({
      from: from ?? null,
      to: to ?? null,
      seenAt: new Date(seenAt).toISOString(),
    })),
  };
}

export type MappingJson = ReturnType<typeof mappingToJson>;

export interface MappingSummary {
  /** Current ones. */
  readonly mappings: number;
  readonly masterHotels: number;
  readonly deleted: number;
  /** Sorted by name. */
  readonly providers: readonly { readonly providerName: string; readonly mappings: number }[];
  /** The newest one of each scope. */
  readonly syncs: readonly MappingSync[];
  /** How many records that could not be read are kept. */
  readonly keptSkipped: number;
  /** The newest hundred of them, newest first, each with the scope and the time of its cycle's page. */
  readonly lastSkipped: readonly t.Row<typeof skippedMappings>[];
}

/** For `--json`. */
export function summaryToJson({ syncs, keptSkipped, lastSkipped, ...summary }: MappingSummary) {
  return {
    ...summary,
    syncs: syncs.map(syncToJson),
    skipped: keptSkipped,
    lastSkipped: lastSkipped.map(({ scope, seenAt, reason, record }) => ({
      providerFamily: scope === '' ? null : scope,
      seenAt: new Date(seenAt).toISOString(),
      reason,
      record,
    })),
  };
}

const pageSize = 1_000;

/** The master hotels that no list has contained yet, page by page, in the order in which they were first seen. */
export async function* readNewHotels(
  copy: ReadOnlyLedger['mappings'],
): AsyncGenerator<readonly NewMasterHotel[], void, undefined> {
  let after = 0;
  for (;;) {
    const page = await copy.listNewHotels({ after, limit: pageSize });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.number;
  }
}

/** The newest sync of the scope, by default of all providers, ended or not; undefined before the first. */
export const latestSync = reads(function* (scope = ''): Query<MappingSync | undefined> {
  const row = yield* one(sql`SELECT * FROM ${syncs} WHERE scope = ${scope} ORDER BY number DESC LIMIT 1`);
  return row && toSync(row);
});

export const listSyncs = reads(function* (): Query<MappingSync[]> {
  const rows = yield* all(
    sql`SELECT * FROM ${syncs}
     WHERE number IN (SELECT max(number) FROM ${syncs} GROUP BY scope) ORDER BY scope`,
  );
  return rows.map(toSync);
});

export const exportRequests = t.table(
  'export_requests',
  {
    requestedAt: t.bigint,
    /** By the service's clock, if it sent the time. */
    serviceTime: t.optional(t.bigint),
    /** Empty for all providers. */
    providers: t.json<readonly string[]>(),
  },
  { isNumbered: true },
);
export type RequestedExport = t.Row<typeof exportRequests>;

export const fetchedExports = t.table(
  'fetched_exports',
  {
    /** The part that its file names share, `guid` in the specification. */
    id: t.text(),
    fetchedAt: t.bigint,
    /** Those of the request that it answers; empty for all providers. */
    providers: t.json<readonly string[]>(),
    files: t.json<readonly FetchedFile[]>(),
  },
  { isNumbered: true, unique: ['id'] },
);
export type FetchedExport = t.Row<typeof fetchedExports>;

/** Whether no export was fetched since it was asked for. @param fetched the last one */
export function isAwaited({ requestedAt }: RequestedExport, fetched: FetchedExport | undefined): boolean {
  return fetched === undefined || fetched.fetchedAt < requestedAt;
}

export const rememberRequest = writes(function* (request: RequestedExport): Query<void> {
  yield* exportRequests.add(request);
});

/** Records an export that is in the archive. Idempotent. */
export const rememberFetched = writes(function* (content: FetchedExport): Query<void> {
  yield* fetchedExports.add(content, sql`ON CONFLICT (id) DO NOTHING`);
});

export const latestRequest = reads(() => exportRequests.find(sql`ORDER BY number DESC LIMIT 1`));
export const latestFetched = reads(() => fetchedExports.find(sql`ORDER BY number DESC LIMIT 1`));

export type ExportFileKind = 'mappings' | 'transformed' | 'hotels';

export interface FetchedFile {
  readonly kind: ExportFileKind;
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** The newest move that was compared with the bookings ahead: a single row. */
export const watchedMoves = t.table('watched_moves', { lastMove: t.bigint });

export interface LeftHotel {
  readonly providerName: string;
  /** Its master hotel in the copy; absent if the mapping was deleted. */
  readonly copyServiceId?: number;
}
export interface MovedMapping extends LeftHotel, ProviderHotel {
  /** When it last moved. */
  readonly movedAt: number;
}

/**
 * The mappings of the oldest moves that no watch has compared with the current and upcoming stays, each once, however often
 * it moved; with the number of these moves, and the number of the last one.
 */
export const nextMoves = reads(function* (limit: number) {
  const rows = yield* all<MovedMapping & { readonly moves: number; readonly lastMove: number }>(
    sql`SELECT provider_name, provider_hotel_id, service_id AS copy_service_id, moves, last_move,
       moved.seen_at AS moved_at
     FROM (
       SELECT mapping, count(*) AS moves, max(number) AS last_move, max(seen_at) AS seen_at FROM (
         SELECT number, mapping, seen_at FROM ${mappingMoves}
         WHERE number > (SELECT last_move FROM ${watchedMoves}) ORDER BY number LIMIT ${limit}
       ) AS next GROUP BY mapping
     ) AS moved JOIN ${copied} ON mappings.number = moved.mapping ORDER BY last_move`,
  );
  const last = rows.at(-1);
  if (!last) return undefined;
  return {
    moves: rows.reduce((sum, { moves }) => sum + moves, 0),
    upTo: last.lastMove,
    mappings: rows.map(({ moves, lastMove, ...mapping }): MovedMapping => mapping),
  };
});

/** Records that all moves up to that number are compared, and their findings are recorded. Never goes back. */
export const finishMoves = writes(function* (upTo: number): Query<void> {
  yield* change(sql`UPDATE ${watchedMoves} SET last_move = ${upTo} WHERE last_move < ${upTo}`);
});

/** What the copy knows about these master hotels. */
export const readMasterHotels = readsTogether(function* (
  serviceIds: readonly number[],
): Query<Map<number, MasterHotel>> {
  const { isListed } = yield* database();
  const masters = new Map<number, MasterHotel & { readonly left: LeftHotel[] }>();
  if (serviceIds.length === 0) return masters;
  const counts = yield* all<{ readonly serviceId: number; readonly hotels: number }>(
    sql`SELECT service_id, count(*) AS hotels FROM ${copied} WHERE ${isListed(sql`service_id`, serviceIds)}
     GROUP BY service_id`,
  );
  for (const { serviceId, hotels } of counts) masters.set(serviceId, { hotels, left: [] });
  const rows = yield* all<LeftHotel & { readonly fromServiceId: number; readonly number: number }>(
    sql`SELECT DISTINCT from_service_id, mappings.number, provider_name, service_id AS copy_service_id
     FROM ${mappingMoves} JOIN ${copied} ON mappings.number = mapping
     WHERE ${isListed(sql`from_service_id`, serviceIds)}
       AND (service_id IS NULL OR service_id <> from_service_id)`,
  );
  for (const { fromServiceId, number, ...hotel } of rows) {
    const master = masters.get(fromServiceId) ?? { hotels: 0, left: [] };
    masters.set(fromServiceId, master);
    master.left.push(hotel);
  }
  return masters;
});

/** What the copy knows about a master hotel. */
export interface MasterHotel {
  /** How many provider hotels are mapped to it. */
  readonly hotels: number;
  /** The provider hotels that are no longer mapped to it. */
  readonly left: readonly LeftHotel[];
}

import { bind, change, database, one, type Query, type Store } from './query.js';
import { readColumns, type StoredRow, withoutUndefined } from './stored-values.js';

export function createExportLog(store: Store) {
  return { ...createExportReader(store), ...bind(store.transact, { rememberRequest, rememberFetched }) };
}

export function createExportReader({ read }: Store) {
  return bind(read, { latestRequest, latestFetched });
}

function* rememberRequest({ requestedAt, serviceTime, providers }: RequestedExport): Query<void> {
  const { mayBeDone } = yield* database();
  if (mayBeDone && (yield* latestRequest())?.requestedAt === requestedAt) return;
  yield* change(
    `INSERT INTO export_requests (requested_at, service_time, providers) VALUES (?, ?, ?)`,
    requestedAt,
    serviceTime ?? null,
    JSON.stringify(providers),
  );
}

function* rememberFetched({ id, fetchedAt, providers, files }: FetchedExport): Query<void> {
  yield* change(
    `INSERT INTO fetched_exports (id, fetched_at, providers, files) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    id,
    fetchedAt,
    JSON.stringify(providers),
    JSON.stringify(files),
  );
}

function* latestRequest(): Query<RequestedExport | undefined> {
  const row = yield* one(`SELECT * FROM export_requests ORDER BY number DESC LIMIT 1`);
  return row && toRequestedExport(row);
}

function* latestFetched(): Query<FetchedExport | undefined> {
  const row = yield* one(`SELECT * FROM fetched_exports ORDER BY number DESC LIMIT 1`);
  return row && toFetchedExport(row);
}

function toRequestedExport(row: StoredRow): RequestedExport {
  return withoutUndefined({
    requestedAt: Number(row.requested_at),
    serviceTime: readColumns(row).integer('service_time'),
    providers: JSON.parse(String(row.providers)) as string[],
  });
}

function toFetchedExport(row: StoredRow): FetchedExport {
  return {
    id: String(row.id),
    fetchedAt: Number(row.fetched_at),
    providers: JSON.parse(String(row.providers)) as string[],
    files: JSON.parse(String(row.files)) as FetchedFile[],
  };
}

export interface RequestedExport {
  readonly requestedAt: number;
  /** By the service's clock, if it sent the time. */
  readonly serviceTime?: number;
  /** Empty for all providers. */
  readonly providers: readonly string[];
}

export interface FetchedExport {
  /** The part that its file names share, `guid` in the specification. */
  readonly id: string;
  readonly fetchedAt: number;
  /** Those of the request that it answers; empty for all providers. */
  readonly providers: readonly string[];
  readonly files: readonly FetchedFile[];
}

export type ExportFileKind = 'mappings' | 'transformed' | 'hotels';

export interface FetchedFile {
  readonly kind: ExportFileKind;
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

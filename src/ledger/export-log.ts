import type {
  ExportLog,
  ExportReader,
  FetchedExport,
  FetchedFile,
  RequestedExport,
} from '../mappings/export/export-log.js';
import { change, type Dialect, one, type Query, type Store } from './query.js';
import { readColumns, type StoredRow, withoutUndefined } from './stored-values.js';

export function createExportLog(store: Store): ExportLog {
  const { dialect, transact } = store;
  return {
    ...createExportReader(store),
    rememberRequest: (request) => transact((mayBeDone) => rememberRequest(dialect, request, mayBeDone)),
    rememberFetched: (fetched) => transact(() => rememberFetched(dialect, fetched)),
  };
}

export function createExportReader({ dialect, read }: Store): ExportReader {
  return {
    latestRequest: () => read(() => latestRequest(dialect)),
    latestFetched: () => read(() => latestFetched(dialect)),
  };
}

function* rememberRequest(
  dialect: Dialect,
  { requestedAt, serviceTime, providers }: RequestedExport,
  mayBeDone: boolean,
): Query<void> {
  if (mayBeDone && (yield* latestRequest(dialect))?.requestedAt === requestedAt) return;
  yield* change(
    `INSERT INTO ${dialect.schema}export_requests (requested_at, service_time, providers) VALUES (?, ?, ?)`,
    requestedAt,
    serviceTime ?? null,
    JSON.stringify(providers),
  );
}

function* rememberFetched(
  { schema }: Dialect,
  { id, fetchedAt, providers, files }: FetchedExport,
): Query<void> {
  yield* change(
    `INSERT INTO ${schema}fetched_exports (id, fetched_at, providers, files) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    id,
    fetchedAt,
    JSON.stringify(providers),
    JSON.stringify(files),
  );
}

function* latestRequest({ schema }: Dialect): Query<RequestedExport | undefined> {
  const row = yield* one(`SELECT * FROM ${schema}export_requests ORDER BY number DESC LIMIT 1`);
  return row && toRequestedExport(row);
}

function* latestFetched({ schema }: Dialect): Query<FetchedExport | undefined> {
  const row = yield* one(`SELECT * FROM ${schema}fetched_exports ORDER BY number DESC LIMIT 1`);
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

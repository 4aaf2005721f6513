import { bind, database, type Query, type Store } from './query.js';
import { bigint, json, optional, type Row, table, text } from './table.js';

const requests = table('export_requests', {
  requestedAt: bigint,
  /** By the service's clock, if it sent the time. */
  serviceTime: optional(bigint),
  /** Empty for all providers. */
  providers: json<readonly string[]>(),
});
export type RequestedExport = Row<typeof requests>;

const fetched = table('fetched_exports', {
  /** The part that its file names share, `guid` in the specification. */
  id: text(),
  fetchedAt: bigint,
  /** Those of the request that it answers; empty for all providers. */
  providers: json<readonly string[]>(),
  files: json<readonly FetchedFile[]>(),
});
export type FetchedExport = Row<typeof fetched>;

export function createExportLog(store: Store) {
  return { ...createExportReader(store), ...bind(store.transact, { rememberRequest, rememberFetched }) };
}

export function createExportReader({ read }: Store) {
  return bind(read, { latestRequest, latestFetched });
}

function* rememberRequest(request: RequestedExport): Query<void> {
  const { mayBeDone } = yield* database();
  if (mayBeDone && (yield* latestRequest())?.requestedAt === request.requestedAt) return;
  yield* requests.add(request);
}

/** Records an export that is in the archive. Idempotent. */
function* rememberFetched(content: FetchedExport): Query<void> {
  yield* fetched.add(content, 'ON CONFLICT (id) DO NOTHING');
}

const latestRequest = () => requests.find('ORDER BY number DESC LIMIT 1');
const latestFetched = () => fetched.find('ORDER BY number DESC LIMIT 1');

export type ExportFileKind = 'mappings' | 'transformed' | 'hotels';

export interface FetchedFile {
  readonly kind: ExportFileKind;
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

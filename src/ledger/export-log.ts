import { bind, database, type Query, type Store } from './query.js';
import * as t from './table.js';

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

export function createExportLog(store: Store) {
  return { ...createExportReader(store), ...bind(store.transact, { rememberRequest, rememberFetched }) };
}

export function createExportReader({ read }: Store) {
  return bind(read, { latestRequest, latestFetched });
}

function* rememberRequest(request: RequestedExport): Query<void> {
  const { mayBeDone } = yield* database();
  if (mayBeDone && (yield* latestRequest())?.requestedAt === request.requestedAt) return;
  yield* exportRequests.add(request);
}

/** Records an export that is in the archive. Idempotent. */
function* rememberFetched(content: FetchedExport): Query<void> {
  yield* fetchedExports.add(content, 'ON CONFLICT (id) DO NOTHING');
}

const latestRequest = () => exportRequests.find('ORDER BY number DESC LIMIT 1');
const latestFetched = () => fetchedExports.find('ORDER BY number DESC LIMIT 1');

export type ExportFileKind = 'mappings' | 'transformed' | 'hotels';

export interface FetchedFile {
  readonly kind: ExportFileKind;
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

import type { FetchedExport, FetchedFile, RequestedExport } from '../mappings/export/export-log.js';
import { readColumns, type StoredRow, withoutUndefined } from './stored-values.js';

/** Reads a row of the table of requested exports. */
export function toRequestedExport(row: StoredRow): RequestedExport {
  return withoutUndefined({
    requestedAt: Number(row.requested_at),
    serviceTime: readColumns(row).integer('service_time'),
    providers: JSON.parse(String(row.providers)) as string[],
  });
}

/** Reads a row of the table of fetched exports. */
export function toFetchedExport(row: StoredRow): FetchedExport {
  return {
    id: String(row.id),
    fetchedAt: Number(row.fetched_at),
    providers: JSON.parse(String(row.providers)) as string[],
    files: JSON.parse(String(row.files)) as FetchedFile[],
  };
}

import type { ExportLog, ExportReader } from '../../mappings/export/export-log.js';
import { toFetchedExport, toRequestedExport } from '../stored-export.js';
import type { Database } from './database.js';

export function createExportLog(database: Database): ExportLog {
  return {
    ...createExportReader(database),
    async rememberRequest({ requestedAt, serviceTime, providers }) {
      database.transact(() =>
        database.run(
          'INSERT INTO export_requests (requested_at, service_time, providers) VALUES (?, ?, ?)',
          requestedAt,
          serviceTime ?? null,
          JSON.stringify(providers),
        ),
      );
    },
    async rememberFetched({ id, fetchedAt, providers, files }) {
      database.transact(() =>
        database.run(
          `INSERT INTO fetched_exports (id, fetched_at, providers, files) VALUES (?, ?, ?, ?)
           ON CONFLICT (id) DO NOTHING`,
          id,
          fetchedAt,
          JSON.stringify(providers),
          JSON.stringify(files),
        ),
      );
    },
  };
}

export function createExportReader(database: Database): ExportReader {
  return {
    async latestRequest() {
      const row = database.get('SELECT * FROM export_requests ORDER BY number DESC LIMIT 1');
      return row && toRequestedExport(row);
    },
    async latestFetched() {
      const row = database.get('SELECT * FROM fetched_exports ORDER BY number DESC LIMIT 1');
      return row && toFetchedExport(row);
    },
  };
}

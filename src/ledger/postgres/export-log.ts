import type { ExportLog, ExportReader, RequestedExport } from '../../mappings/export/export-log.js';
import { toFetchedExport, toRequestedExport } from '../stored-export.js';
import type { Database } from './database.js';
import type { Session } from './session.js';

export function createExportLog(database: Database): ExportLog {
  const { perform, transact } = database;
  return {
    ...createExportReader(database),
    rememberRequest: ({ requestedAt, serviceTime, providers }) =>
      transact(async (session, mayBeDone) => {
        if (mayBeDone && (await latestRequest(session))?.requestedAt === requestedAt) return;
        await session.run(
          'INSERT INTO hotel_review.export_requests (requested_at, service_time, providers) VALUES ($1, $2, $3)',
          requestedAt,
          serviceTime ?? null,
          JSON.stringify(providers),
        );
      }),
    async rememberFetched({ id, fetchedAt, providers, files }) {
      await perform((session) =>
        session.run(
          `INSERT INTO hotel_review.fetched_exports (id, fetched_at, providers, files) VALUES ($1, $2, $3, $4)
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

export function createExportReader({ perform }: Database): ExportReader {
  return {
    latestRequest: () => perform(latestRequest),
    latestFetched: () =>
      perform(async (session) => {
        const row = await session.row(
          'SELECT * FROM hotel_review.fetched_exports ORDER BY number DESC LIMIT 1',
        );
        return row && toFetchedExport(row);
      }),
  };
}

async function latestRequest(session: Session): Promise<RequestedExport | undefined> {
  const row = await session.row('SELECT * FROM hotel_review.export_requests ORDER BY number DESC LIMIT 1');
  return row && toRequestedExport(row);
}

import { randomUUID } from 'node:crypto';
import { chownSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { rules } from '../../jobs/rules.js';
import type { MappingRow } from '../../src/ledger/mappings.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import type { ExportContents } from '../mappings/export/small-export.js';
import { createDayFolder, type DayFolder, type Settings } from '../support/day-folder.js';
import { sftpSettings } from '../support/file-day.js';
import { type StandIn, type StandInHandler, startStandIn } from '../support/http-stand-in.js';
import { type RunningSftpServer, sessionUser } from '../support/sftp-server.js';

export { hotelColumns, mappingColumns, smallExport } from '../mappings/export/small-export.js';

export interface ExportFolder {
  readonly folder: DayFolder;
  readonly standIn: StandIn;
  readonly server: RunningSftpServer;
  /** The name of a file of an export. */
  nameOf(kind: keyof ExportContents, id: string): string;
  /** Writes export files to the server's disk. @param at their modification time, epoch milliseconds */
  put(id: string, contents: Partial<ExportContents>, at?: number): void;
  /** What the archive holds of a file. */
  archived(id: string, kind: keyof ExportContents): string;
}

/** A folder whose exports come from that server, through that port. */
export async function prepareExportFolder(
  server: RunningSftpServer,
  {
    port = server.port,
    settings = {},
    handler,
  }: { readonly port?: number; readonly settings?: Settings; readonly handler?: StandInHandler } = {},
): Promise<ExportFolder> {
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  const folder = await createDayFolder({
    baseUrl: standIn.baseUrl,
    hasWorkers: false,
    settings: {
      ...settings,
      file: {
        ...sftpSettings(server, port),
        ...{ resultPollSeconds: 0.05, resultQuietSeconds: 0.3, resultTimeoutMinutes: 1 },
        ...(settings.file ?? {}),
      },
    },
  });
  const nameOf = (kind: keyof ExportContents, id: string) => `acme_${kind}_${id}.csv`;
  return {
    folder,
    standIn,
    server,
    nameOf,
    put(id, contents, at = Date.now()) {
      for (const [kind, content] of Object.entries(contents) as [keyof ExportContents, string][]) {
        const path = server.disk(nameOf(kind, id));
        writeFileSync(path, content);
        chownSync(path, sessionUser.uid, sessionUser.gid);
        utimesSync(path, at / 1_000, at / 1_000);
      }
    },
    archived: (id, kind) => join(folder.path, 'data/archive/exports', id, nameOf(kind, id)),
  };
}

/** Fills the local copy of a folder as a sync would. */
export async function fillCopy(folder: DayFolder, rows: readonly MappingRow[]): Promise<void> {
  const ledger = createSqliteLedger({
    path: folder.ledgerFile,
    rules,
    clock: Date.now,
  });
  try {
    const { syncId } = await ledger.mappings.beginSync({
      scope: '',
      syncId: randomUUID(),
      since: 0,
      at: Date.now(),
    });
    let after: string | undefined;
    for (let from = 0; from === 0 || from < rows.length; from += 1_000) {
      const key = from + 1_000 < rows.length ? randomUUID() : undefined;
      await ledger.mappings.storePage({
        syncId,
        ...(after !== undefined && { after }),
        ...(key !== undefined && { resumeKey: key }),
        rows: rows.slice(from, from + 1_000),
        at: Date.now(),
      });
      after = key;
    }
  } finally {
    await ledger.close();
  }
}

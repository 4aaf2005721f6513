import { join } from 'node:path';
import { pause } from '../src/base/abort.js';
import { formatBytes, formatCount, formatInstant } from '../src/base/format.js';
import { decideRetry } from '../src/base/retry.js';
import { renderTable } from '../src/base/tables.js';
import { UsageError } from '../src/base/usage-error.js';
import type { Config } from '../src/config/load.js';
import type { FetchedExport } from '../src/ledger/mappings.js';
import { archiveDay, type FetchResult, fetchExport } from '../src/mappings/export/fetch-export.js';
import type { InspectedFile } from '../src/mappings/export/inspect-file.js';
import { type LoadedHotels, loadedHotelsToJson } from '../src/mappings/hotels/load-hotels.js';
import { createDirectorySpool } from '../src/storage/spool.js';
import type { App } from './app.js';
import { clock, random } from './clock.js';
import { command, numberUpTo, option } from './command.js';
import { describeLoaded, listMasterIdNames, loadContent } from './commands/hotels.js';
import { readSince } from './days.js';
import { exitCode } from './exit-code.js';
import { noticesOfRefusal } from './notifications.js';
import { openRetryPolicy } from './sources.js';

const weekInMinutes = 10_080;

export default command({
  summary: 'wait for the requested export, and store its files in the archive',
  options: {
    since: option(
      '--since <instant>',
      'only an export made since then, such as 2026-11-20 or 2026-11-20T12:00:00Z',
      readSince,
    ),
    wait: option(
      '--wait <minutes>',
      'how long to wait (default: as configured); 0 checks once',
      numberUpTo(weekInMinutes),
    ),
  },
  examples: `
Exits with 3 if there is no complete export yet. An interrupted download is
resumed.

Examples:
  hotel-review export fetch
  hotel-review export fetch --wait 0             check once
  hotel-review export fetch --since 2026-11-20   the newest of that day or later`,

  run: (app, options) => fetchOneExport(app, options),
});

/** Consecutive checks share a connection. */
const sftpIdleMs = 60_000;

interface FetchOptions {
  /** Epoch milliseconds; defaults to the last request. */
  readonly since?: number | undefined;
  /** Minutes; defaults to the configured time. */
  readonly wait?: number | undefined;
}

export async function fetchOneExport(app: App, { since, wait }: FetchOptions): Promise<number> {
  const { config, notify, signal, command: write } = app;
  const { sftp, spool, resultPollSeconds, resultQuietSeconds, resultTimeoutMinutes } = config.file;
  if (!sftp)
    throw new UsageError(
      'export fetch needs the SFTP server on which exports appear: set file.sftp (host, username, hostKey, …)',
    );
  const folder = findFolder(config);
  const archive = app.archive();
  const parts = {
    sftp: app.sftp(sftpIdleMs),
    archive,
    spool: createDirectorySpool({ root: join(spool, 'exports') }),
    log: (await app.ledger()).exports,
    settings: {
      folder,
      pollMs: resultPollSeconds * 1_000,
      quietMs: resultQuietSeconds * 1_000,
      masterIdNames: listMasterIdNames(config),
    },
    backOff: createBackOff(config),
    pause,
    clock,
    notify,
  };
  const timeoutMs = (wait ?? resultTimeoutMinutes) * 60_000;
  const result = await fetchExport({ since, timeoutMs }, parts, signal).catch(async (error: unknown) => {
    await (await app.ledger()).notices.raise(noticesOfRefusal(error));
    throw error;
  });
  app.endProgress();
  if (result.kind === 'absent') {
    const where = folder === '' ? 'in the SFTP root' : `in ${folder} below the SFTP root`;
    const text = `There is no complete export ${where} yet. To check again: ${write('export fetch')}`;
    return app.answer(text, { id: null }, exitCode.resultPending);
  }

  const { kind, fetched } = result;
  const { id, fetchedAt, providers } = fetched;
  const hotels = await loadFetched(app, result);
  const archivedTo = archive.locate(archiveDay, id);
  const isNew = kind === 'fetched';
  return app.answer(
    [
      isNew
        ? `Export ${id} was fetched:`
        : `Export ${id} was already fetched at ${formatInstant(fetchedAt)}:`,
      renderFiles(fetched),
      isNew && result.files.flatMap(describeOddities),
      isNew
        ? `It is in ${archivedTo}`
        : `It is in ${archivedTo}. To request a new one: ${write('export request --email ADDRESS')}`,
      hotels && describeLoaded(hotels),
    ],
    {
      id,
      isNew,
      fetchedAt: new Date(fetchedAt).toISOString(),
      providers,
      archivedTo,
      files: isNew ? result.files : fetched.files,
      hotels: hotels ? loadedHotelsToJson(hotels) : null,
    },
  );
}

/** Relative to the SFTP root, without leading or trailing slash. */
function findFolder({ export: { folder } }: Config): string {
  const parts = folder.split('/').filter((part) => part !== '' && part !== '.');
  if (!parts.includes('..')) return parts.join('/');
  throw new UsageError(`export.folder: expected a folder below the SFTP root, got: ${folder}`);
}

function createBackOff(config: Config): (failures: number) => number | undefined {
  const policy = openRetryPolicy(config);
  return (failures) => {
    const decision = decideRetry({ tries: failures - 1, waits: 0 }, policy, random);
    return decision.kind === 'retry' ? decision.delayMs : undefined;
  };
}

/** Loads the content of the hotels, unless it has been loaded since the export was fetched. */
async function loadFetched(
  app: App,
  { kind, fetched }: Exclude<FetchResult, { kind: 'absent' }>,
): Promise<LoadedHotels | undefined> {
  const { id, fetchedAt, files } = fetched;
  const file = files.find((one) => one.kind === 'hotels')?.name;
  if (file === undefined) return undefined;
  const last = await (await app.ledger()).hotels.latestLoad();
  if (kind === 'known' && last && last.at >= fetchedAt) return undefined;
  return loadContent(app, file, app.archive().read(archiveDay, id, file));
}

function renderFiles({ files }: FetchedExport): string {
  return renderTable(
    files.map(({ kind, name, rows, bytes }) => [kind, formatCount(rows), formatBytes(bytes), name]),
    ['file', 'rows', 'size', 'name'],
  );
}

const columnsNamed = 20;

function describeOddities({ name, extraColumns, endsInMidLine }: InspectedFile): string[] {
  const some = extraColumns.slice(0, columnsNamed).join(', ');
  const more = extraColumns.length > columnsNamed ? `, and ${extraColumns.length - columnsNamed} more` : '';
  return [
    ...(extraColumns.length === 0
      ? []
      : [`  ${name} has columns that the specification does not name: ${some}${more}`]),
    ...(endsInMidLine ? [`  ${name} does not end with a line break: is it complete?`] : []),
  ];
}

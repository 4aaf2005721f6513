import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { pause } from '../../src/base/abort.js';
import { formatBytes, formatCount, formatInstant } from '../../src/base/format.js';
import { decideRetry } from '../../src/base/retry.js';
import { UsageError } from '../../src/base/safe-error.js';
import { renderTable } from '../../src/base/tables.js';
import type { Config } from '../../src/config/load.js';
import type { FetchedExport } from '../../src/ledger/mappings.js';
import {
  archiveDay,
  type FetchResult,
  fetchExport,
  requestExport,
} from '../../src/mappings/export/fetch-export.js';
import type { InspectedFile } from '../../src/mappings/export/inspect-file.js';
import { type LoadedHotels, loadedHotelsToJson } from '../../src/mappings/hotels/load-hotels.js';
import { MappingServiceError } from '../../src/service/errors.js';
import { createDirectorySpool } from '../../src/storage/spool.js';
import type { App } from '../app.js';
import { clock, random } from '../clock.js';
import { type AnyCommand, command, numberUpTo, option, readSince } from '../command.js';
import { exitCode } from '../exit-code.js';
import { noticesOfRefusal } from '../notifications.js';
import { openRetryPolicy } from '../sources.js';
import { describeLoaded, listMasterIdNames, loadContent } from './hotels.js';

const weekInMinutes = 10_080;

const fetch = command({
  summary: 'wait for the requested export, and store its files in the archive',
  options: {
    since: option(
      '--since <instant>',
      'only an export made since then, such as 2026-11-20 or 2026-11-20T12:00:00Z',
      { read: readSince },
    ),
    wait: option('--wait <minutes>', 'how long to wait (default: as configured); 0 checks once', {
      read: numberUpTo(weekInMinutes),
    }),
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

/**
 * @param options `since` defaults to the last request, and `wait`, in minutes, to the configured time
 */
export async function fetchOneExport(
  app: App,
  { since, wait }: Partial<Record<'since' | 'wait', number | undefined>>,
): Promise<number> {
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

const request = command({
  summary: 'request an export, which the service sends by e-mail and puts on the SFTP server',
  options: {
    email: option('--email <address>', 'the recipient', { required: true }),
    providers: option(
      '--providers <names>',
      'only the mappings of these, such as Bedlink,Roomex (default: all)',
    ),
  },
  examples: `
Examples:
  hotel-review export request --email ops@example.com
  hotel-review export request --email ops@example.com --providers Bedlink,Roomex`,
  read: ({ email, providers }) => ({
    email: readAddress(email),
    providers: providers === undefined ? [] : readNames(providers),
  }),
  run: (app, wanted) => requestOneExport(app, wanted),
});

/** A rough check; the service does the rest. The message omits the address, because it may end up in a log. */
function readAddress(text: string): string {
  if (/^[^\s\p{Cc},@]+@[^\s\p{Cc},@]+$/u.test(text)) return text;
  throw new InvalidArgumentError(
    '--email: expected one address such as name@example.com, got: something else',
  );
}

function readNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (!names.includes('')) return [...new Set(names)];
  throw new InvalidArgumentError('--providers: expected names separated by commas, got: an empty one');
}

/** @param providers empty for all of them */
export async function requestOneExport(
  app: App,
  { email, providers }: { readonly email: string; readonly providers: readonly string[] },
): Promise<number> {
  const { exports: log } = await app.ledger();
  const service = app.mappingService();
  const startedAt = clock();
  try {
    const { requestedAt, serviceTime } = await requestExport(
      { emailId: email, providers },
      { service, log, clock },
      app.signal,
    );
    const what = providers.length === 0 ? 'all providers' : providers.join(', ');
    return app.answer(
      [
        `The service exports the mappings of ${what} and sends them to ${email}.`,
        `To fetch the files: ${app.command('export fetch')}`,
      ],
      // Without the recipient.
      {
        requestedAt: new Date(requestedAt).toISOString(),
        serviceTime: serviceTime === undefined ? null : new Date(serviceTime).toISOString(),
        providers,
      },
    );
  } catch (error) {
    throw error instanceof MappingServiceError && error.outcomeUnknown
      ? sayHowToCheck(error, startedAt, app)
      : error;
  }
}

/** A second request would start a second export, so a person decides. */
function sayHowToCheck(error: MappingServiceError, startedAt: number, { command: write }: App): Error {
  const { kind, code, operation, httpStatus } = error;
  const since = new Date(startedAt).toISOString();
  return new MappingServiceError(
    `The service gave no clear answer to the export request (${code}) and may have started the export, so the request is not repeated. Check whether the e-mail or the files arrive: ${write(`export fetch --since ${since}`)}. If neither does, request the export again: ${write('export request --email ADDRESS')}.`,
    { kind, code, operation, outcomeUnknown: true, httpStatus },
    { cause: error },
  );
}

export default {
  place: ['mappings', 5],
  summary: "request and fetch the service's exports of all mappings",
  examples: `
Examples:
  hotel-review export request --email ops@example.com   request all mappings
  hotel-review export fetch                             wait for the files`,
  commands: { request, fetch },
} satisfies AnyCommand;

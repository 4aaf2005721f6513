import { join } from 'node:path';
import type { Archive } from '../src/archive/archive.js';
import { pause } from '../src/async/abort.js';
import { decideRetry } from '../src/async/retry.js';
import type { FetchExportOptions } from '../src/cli/commands/exports.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderAbsent, renderFetched, renderKnown, toFetchReport } from '../src/cli/exports.js';
import { renderLoad, toLoadReport } from '../src/cli/hotels.js';
import type { Config } from '../src/config/load.js';
import { archiveDay, type FetchResult, fetchExport } from '../src/mappings/export/fetch-export.js';
import type { LoadedHotels } from '../src/mappings/hotels/load-hotels.js';
import type { Ledger } from '../src/review/ledger.js';
import { createDirectorySpool } from '../src/spool/spool.js';
import { UsageError } from '../src/text/usage-error.js';
import { clock, random } from './clock.js';
import { listMasterIdNames, loadContentFile } from './load-hotels.js';
import { openArchive, openLedger, openSftp } from './parts.js';
import { openRetryPolicy } from './sources.js';
import type { Terminal } from './terminal.js';

/** Consecutive checks share a connection. */
const sftpIdleMs = 60_000;

/** `hotel-review export fetch`: exits with 3 if there is no complete export yet. */
export async function fetchOneExport(
  config: Config,
  { since, wait }: FetchExportOptions,
  terminal: Terminal,
): Promise<number> {
  const { resultPollSeconds, resultQuietSeconds, resultTimeoutMinutes } = config.file;
  if (!config.file.sftp)
    throw new UsageError(
      'export fetch needs the SFTP server on which exports appear: set file.sftp (host, username, hostKey, …)',
    );
  const folder = findFolder(config);
  const archive = openArchive(config);
  const sftp = openSftp(config, { keep: { idleMs: sftpIdleMs, clock } });
  const ledger = await openLedger(config);
  try {
    const parts = {
      sftp,
      archive,
      spool: createDirectorySpool({ root: join(config.file.spool, 'exports') }),
      log: ledger.exports,
      settings: {
        folder,
        pollMs: resultPollSeconds * 1_000,
        quietMs: resultQuietSeconds * 1_000,
        masterIdNames: listMasterIdNames(config),
      },
      backOff: createBackOff(config),
      pause,
      clock,
      notify: terminal.notify,
    };
    const timeoutMs = (wait ?? resultTimeoutMinutes) * 60_000;
    const result = await fetchExport({ since, timeoutMs }, parts, terminal.signal);
    terminal.endProgress();
    const hotels = await loadFetched(config, result, { archive, ledger }, terminal.signal);
    return report(result, { hotels, folder, locate: (id) => archive.locate(archiveDay, id) }, terminal);
  } finally {
    terminal.endProgress();
    await Promise.all([sftp.close(), ledger.close()]);
  }
}

/** Loads the content of the hotels, unless it has been loaded since the export was fetched. */
async function loadFetched(
  config: Config,
  result: FetchResult,
  { archive, ledger }: { readonly archive: Archive; readonly ledger: Pick<Ledger, 'hotels'> },
  signal: AbortSignal,
): Promise<LoadedHotels | undefined> {
  if (result.kind === 'absent') return undefined;
  const { id, fetchedAt, files } = result.fetched;
  const file = files.find(({ kind }) => kind === 'hotels')?.name;
  if (file === undefined) return undefined;
  const last = await ledger.hotels.latestLoad();
  if (result.kind === 'known' && last && last.at >= fetchedAt) return undefined;
  return loadContentFile(config, { file, content: archive.read(archiveDay, id, file) }, ledger, signal);
}

interface Fetched {
  /** Undefined if nothing was loaded. */
  readonly hotels: LoadedHotels | undefined;
  readonly folder: string;
  readonly locate: (id: string) => string;
}

function report(
  result: FetchResult,
  { hotels, folder, locate }: Fetched,
  { answer, command }: Terminal,
): number {
  const loaded = { hotels: hotels ? toLoadReport(hotels) : null };
  const renderLoaded = hotels ? renderLoad(hotels) : '';
  switch (result.kind) {
    case 'fetched': {
      const { fetched, files } = result;
      const archivedTo = locate(fetched.id);
      answer(renderFetched(fetched, { archivedTo, inspected: files }) + renderLoaded, {
        ...toFetchReport({ ...fetched, files }, { archivedTo, isNew: true }),
        ...loaded,
      });
      return exitCode.done;
    }
    case 'known': {
      const { fetched } = result;
      const archivedTo = locate(fetched.id);
      answer(renderKnown(fetched, { archivedTo, command }) + renderLoaded, {
        ...toFetchReport(fetched, { archivedTo, isNew: false }),
        ...loaded,
      });
      return exitCode.done;
    }
    case 'absent':
      answer(renderAbsent(folder, command), { id: null });
      return exitCode.resultPending;
  }
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

import { join } from 'node:path';
import { pause } from '../src/async/abort.js';
import { decideRetry } from '../src/async/retry.js';
import type { FetchExportOptions } from '../src/cli/commands/exports.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderAbsent, renderFetched, renderKnown, toFetchReport } from '../src/cli/exports.js';
import type { Config } from '../src/config/load.js';
import { archiveDay, type FetchResult, fetchExport } from '../src/mappings/export/fetch-export.js';
import { UsageError } from '../src/review/refusals.js';
import { createDirectorySpool } from '../src/spool/spool.js';
import { clock, random } from './clock.js';
import { openArchive, openSftp } from './deliveries.js';
import { openLedger } from './ledgers.js';
import { openRetryPolicy } from './retry-policy.js';
import type { Terminal } from './terminal.js';

/** Consecutive checks share a connection. */
const sftpIdleMs = 60_000;

/** `hotel-review export fetch`: exits with 3 if there is no complete export yet. */
export async function fetchOneExport(
  config: Config,
  { since, wait }: FetchExportOptions,
  terminal: Terminal,
): Promise<number> {
  const { pollSeconds, quietSeconds, timeoutMinutes } = config.export;
  if (!config.file.sftp)
    throw new UsageError(
      'export fetch needs the SFTP server on which exports appear: set file.sftp (host, username, hostKey, …)',
    );
  const folder = findFolder(config);
  const archive = openArchive(config);
  const sftp = openSftp(config, { keep: { idleMs: sftpIdleMs, clock } });
  const ledger = await openLedger(config);
  try {
    const result = await fetchExport(
      { since, timeoutMs: (wait ?? timeoutMinutes) * 60_000 },
      {
        sftp,
        archive,
        spool: createDirectorySpool({ root: join(config.file.spool, 'exports') }),
        log: ledger.exports,
        settings: {
          folder,
          patterns: listPatterns(config),
          pollMs: pollSeconds * 1_000,
          quietMs: quietSeconds * 1_000,
          masterIdNames: listMasterIdNames(config),
        },
        backOff: createBackOff(config),
        pause,
        clock,
        notify: terminal.notify,
      },
      terminal.signal,
    );
    terminal.endProgress();
    return report(result, folder, (id) => archive.locate(archiveDay, id), terminal);
  } finally {
    terminal.endProgress();
    await Promise.all([sftp.close(), ledger.close()]);
  }
}

function report(
  result: FetchResult,
  folder: string,
  locate: (id: string) => string,
  { answer, command }: Terminal,
): number {
  switch (result.kind) {
    case 'fetched': {
      const { fetched, files } = result;
      const archivedTo = locate(fetched.id);
      answer(
        renderFetched(fetched, { archivedTo, inspected: files }),
        toFetchReport({ ...fetched, files }, { archivedTo, isNew: true }),
      );
      return exitCode.done;
    }
    case 'known': {
      const { fetched } = result;
      const archivedTo = locate(fetched.id);
      answer(
        renderKnown(fetched, { archivedTo, command }),
        toFetchReport(fetched, { archivedTo, isNew: false }),
      );
      return exitCode.done;
    }
    case 'absent':
      answer(renderAbsent(folder, command), { id: null });
      return exitCode.resultPending;
  }
}

function listPatterns({ export: { mappingsPattern, transformedPattern, hotelsPattern } }: Config) {
  return { mappings: mappingsPattern, transformed: transformedPattern, hotels: hotelsPattern };
}

/** The specification says ServiceId; a deployment with another name in JSON may use it here, too. */
export function listMasterIdNames({ service: { masterIdName } }: Config): readonly string[] {
  return [...new Set([masterIdName, 'ServiceId'])];
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

import { exitCode } from '../src/cli/exit-code.js';
import { renderProcessing } from '../src/cli/privacy.js';
import {
  type Counted,
  describeProcessing,
  type Encryption,
  type Installation,
} from '../src/cli/processing-record.js';
import type { Config } from '../src/config/load.js';
import { readActions } from '../src/review/audit.js';
import { manifestName } from '../src/review/file/manifest.js';
import type { ReadOnlyLedger } from '../src/review/ledger.js';
import type { KeptData } from '../src/review/retention.js';
import type { Run } from '../src/review/run.js';
import { showS3Location } from '../src/s3/bucket.js';
import { describeError } from '../src/text/safe-error.js';
import { openArchive, openSpool } from './deliveries.js';
import { openKeys } from './key-folder.js';
import { findLedger, showLedgerPlace } from './ledgers.js';
import type { Terminal } from './terminal.js';

const runsLookedAt = 100_000;
/** Each look into a bucket is a request. */
const looksAtOnce = 8;

/** Prints the record of processing of this installation: from its settings and from what it holds now. */
export async function showPrivacy(config: Config, terminal: Terminal): Promise<number> {
  const ledger = await findLedger(config);
  try {
    const record = describeProcessing(await examine(config, ledger, terminal));
    terminal.answer(renderProcessing(record, terminal.command), record);
    return exitCode.done;
  } finally {
    await ledger?.close();
  }
}

const nothing: KeptData = {
  bookings: { count: 0 },
  names: { count: 0 },
  cases: { count: 0 },
  mails: { count: 0 },
  actions: { count: 0 },
};

async function examine(
  config: Config,
  ledger: ReadOnlyLedger | undefined,
  terminal: Terminal,
): Promise<Installation> {
  const { archive, file, service, source } = config;
  const kept = ledger ? await ledger.describeKept() : nothing;
  const erased = ledger ? await ledger.listErasedGuests() : [];
  const runs = ledger ? await ledger.listRuns({ limit: runsLookedAt }) : [];
  const countOrSay = async (place: string, count: () => Promise<Counted>): Promise<Counted> => {
    try {
      return await count();
    } catch (error) {
      terminal.say(`warning: ${place} could not be checked: ${describeError(error)}`);
      return { count: null };
    }
  };
  const place = archive.kind === 's3' ? showS3Location({ ...archive }) : archive.path;
  const from = runs.find((run) => run.source !== undefined)?.source;
  return {
    ...config,
    keptColumns: Object.keys(source.keep),
    ledger: await showLedgerPlace(config),
    archive: place,
    spool: file.spool,
    removeAfterDays: file.removeAfterDays,
    service: service.baseUrl,
    sftp: file.sftp && `sftp://${file.sftp.host}:${file.sftp.port}${file.sftp.root}`,
    encryption: describeKeys(config),
    source: `${source.kind}${from === undefined ? '' : `, last read from ${from}`}`,
    kept: {
      ...kept,
      mails: { count: kept.mails.count, since: toDate(kept.mails.since) },
      actions: { count: kept.actions.count, since: toDate(kept.actions.since) },
      erased: { count: erased.length, since: toDate(erased[0]?.at) },
      archived: await countOrSay(place, () => countArchived(config, runs)),
      spooled: await countOrSay(file.spool, () => countSpooled(config)),
      sentFiles: countSentFiles(runs),
    },
    writtenFiles: ledger ? await listWrittenFiles(ledger) : [],
  };
}

function describeKeys(config: Config): Encryption | undefined {
  const keys = openKeys(config);
  if (!keys) return undefined;
  const days = keys.listDays();
  return { keys: keys.root, days: days.length, since: days[0] ?? null };
}

/** The files that may hold names: all but the manifests. */
async function countArchived(config: Config, runs: readonly Run[]): Promise<Counted> {
  const archive = openArchive(config);
  const waiting = runs.filter(({ delivery }) => delivery === 'file');
  const found: { readonly day: string; readonly files: number }[] = [];
  const look = async (): Promise<void> => {
    for (let run = waiting.pop(); run; run = waiting.pop()) {
      const names = await archive.list(run.day, run.id);
      const files = names.filter((name) => name !== manifestName).length;
      if (files > 0) found.push({ day: run.day, files });
    }
  };
  await Promise.all(Array.from({ length: looksAtOnce }, look));
  return {
    count: found.reduce((sum, { files }) => sum + files, 0),
    since: found.map(({ day }) => day).sort()[0],
  };
}

async function countSpooled(config: Config): Promise<Counted> {
  return { count: (await openSpool(config).list()).length };
}

/** Each day has one file, and a later run replaces it. What we have removed does not count. */
function countSentFiles(runs: readonly Run[]): Counted {
  const wasRemoved = ({ file }: Run) =>
    file?.removals?.some(({ path, outcome }) => path === file.remotePath && outcome === 'removed') ?? false;
  const days = new Set(
    runs.flatMap((run) => (run.file?.remotePath === undefined || wasRemoved(run) ? [] : [run.day])),
  );
  return { count: days.size, since: [...days].sort()[0] };
}

/** Only the audit trail lists them. */
async function listWrittenFiles({ audit }: ReadOnlyLedger): Promise<Installation['writtenFiles']> {
  const files: Installation['writtenFiles'][number][] = [];
  for await (const actions of readActions(audit)) {
    for (const { at, who, details } of actions) {
      const path = details?.out ?? details?.csv ?? details?.html;
      // What the desk sends is no file here: its entry says `"csv": true`.
      if (typeof path === 'string') files.push({ at: new Date(at).toISOString(), who, path });
    }
  }
  return files;
}

function toDate(instant: number | undefined): string | undefined {
  return instant === undefined ? undefined : new Date(instant).toISOString().slice(0, 10);
}

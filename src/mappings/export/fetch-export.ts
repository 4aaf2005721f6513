import type { Ledger } from '../../ledger/ledger.js';
import { type FetchedExport, isAwaited, type RequestedExport } from '../../ledger/mappings.js';
import type { ExportRequest, MappingService } from '../../service/operations.js';
import type { Archive } from '../../storage/archive.js';
import type { Spool } from '../../storage/spool.js';
import { SftpError, type SftpServer, type SftpSession } from '../../transports/sftp/sftp.js';
import type { NotifyExport } from '../events.js';
import {
  createQuietWatch,
  type ExportFile,
  type ExportSet,
  findSets,
  isComplete,
  isFrom,
} from './export-set.js';
import { ExportFileError, type InspectedFile, inspectFile } from './inspect-file.js';

/** Used in place of a run's day. */
export const archiveDay = 'exports';
/** The clocks of the service, of its SFTP server and of this machine differ; file times are whole seconds. */
const clockToleranceMs = 60_000;
/** Far more than the largest export of a real account; a server must not fill the disk. */
const maxBytes = 20e9;

interface FetchParts {
  readonly settings: {
    /** Relative to the SFTP root, without leading or trailing slash; empty for the root itself. */
    readonly folder: string;
    readonly pollMs: number;
    /** A complete export stays unchanged for this long. */
    readonly quietMs: number;
    /** Accepted names of the master id's column. */
    readonly masterIdNames: readonly string[];
  };
  /** For exports only: anything else in it is removed. */
  readonly spool: Spool;
  readonly archive: Archive;
  readonly log: Ledger['exports'];
  readonly sftp: SftpServer;
  /** The delay after this many consecutive failures, in milliseconds; undefined to give up. */
  readonly backOff: (failures: number) => number | undefined;
  /** Resolves early when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly notify: NotifyExport;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

export type FetchResult =
  | { readonly kind: 'fetched'; readonly fetched: FetchedExport; readonly files: readonly InspectedFile[] }
  /** It had been fetched before. */
  | { readonly kind: 'known'; readonly fetched: FetchedExport }
  | { readonly kind: 'absent' };

/**
 * Waits for an export and downloads its files into the archive. An interrupted fetch resumes where it stopped.
 *
 * @param asked.since only exports since then, by the server's clock, epoch milliseconds; default: since the last request
 * @throws ExportFileError when a file does not follow the specification; SftpError; ArchiveError; the signal's reason
 */
export async function fetchExport(
  { since, timeoutMs }: { readonly since?: number | undefined; readonly timeoutMs: number },
  parts: FetchParts,
  signal: AbortSignal,
): Promise<FetchResult> {
  const { log, clock } = parts;
  const [requested, last] = [await log.latestRequest(), await log.latestFetched()];
  const isAnswered = since === undefined && last !== undefined && !(requested && isAwaited(requested, last));
  const wanted: WantedExport = {
    newerThan: since === undefined ? requested && startOf(requested) : wholeSeconds(since),
    // An export fetched before the request cannot be its answer.
    not: since === undefined && !isAnswered ? last?.id : undefined,
    known: last?.id,
    // Nothing is due: take a new export if there is one, but don't wait for it.
    deadline: clock() + (isAnswered ? 0 : timeoutMs),
  };
  for (;;) {
    const set = await awaitExport(wanted, parts, signal);
    if (last && (set ? set.id === last.id : isAnswered)) return { kind: 'known', fetched: last };
    if (!set) return { kind: 'absent' };
    const files = await archiveFiles(set, parts, signal);
    // A file changed after all.
    if (!files) continue;
    const isOfRequest = requested !== undefined && isFrom(set, startOf(requested));
    const fetched: FetchedExport = {
      id: set.id,
      fetchedAt: clock(),
      providers: isOfRequest ? requested.providers : [],
      files: files.map(({ extraColumns: _, endsInMidLine: __, ...file }) => file),
    };
    await log.rememberFetched(fetched);
    return { kind: 'fetched', fetched, files };
  }
}

function startOf({ serviceTime, requestedAt }: RequestedExport): number {
  return wholeSeconds((serviceTime ?? requestedAt) - clockToleranceMs);
}

function wholeSeconds(instant: number): number {
  return Math.floor(instant / 1_000) * 1_000;
}

/** Undefined when a file has changed since it was seen. */
async function archiveFiles(
  set: ExportSet,
  parts: FetchParts,
  signal: AbortSignal,
): Promise<readonly InspectedFile[] | undefined> {
  const { spool, archive, settings, notify } = parts;
  const isOurs = (name: string) => set.files.some((file) => name.startsWith(file.name));
  await spool.remove((await spool.list()).filter((name) => !isOurs(name)));

  const archived = await archive.list(archiveDay, set.id);
  for (const file of set.files.filter(({ name }) => !archived.includes(name))) {
    if (!(await ensureSpooled(file, parts, signal))) return undefined;
    await archive.store(archiveDay, set.id, file.name, abortable(spool.read(file.name), signal));
    await spool.remove([file.name]);
    notify({ type: 'archived', name: file.name });
  }

  const files: InspectedFile[] = [];
  for (const file of set.files) {
    const content = abortable(archive.read(archiveDay, set.id, file.name), signal);
    const inspected = await inspectFile(file, content, settings.masterIdNames);
    if (inspected.bytes !== file.size)
      throw new ExportFileError(
        file.name,
        `the server has ${file.size} bytes under this name, but the archive already holds ${inspected.bytes}`,
      );
    files.push(inspected);
  }
  return files;
}

/** Ensures that the file is in the spool; false when it has changed since it was seen. */
async function ensureSpooled(file: ExportFile, parts: FetchParts, signal: AbortSignal): Promise<boolean> {
  const { spool, settings, notify } = parts;
  const { name } = file;
  // A process killed between download and archive has left it there complete.
  if ((await spool.measure(name))?.bytes === file.size) return true;
  const localPath = await spool.locate(name);
  const path = pathOf(settings.folder, name);
  const isUnchanged = await useSession(parts, signal, async (session, progressed) => {
    const found = await session.download(path, localPath, {
      limit: { bytes: maxBytes, advice: 'No export is that large: ask the operator of the service.' },
      resumes: true,
      onProgress(done, total) {
        progressed();
        notify({ type: 'downloading', name, done, total });
      },
    });
    return found.size === file.size && !(await session.hasChanged(path, file));
  });
  if (isUnchanged) return true;
  await spool.remove([name]);
  return false;
}

async function* abortable(
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const block of content) {
    signal.throwIfAborted();
    yield block;
  }
}

/** Which export to wait for. */
interface WantedExport {
  /** Its files are not older than this, by the server's clock; epoch milliseconds. */
  readonly newerThan: number | undefined;
  /** The id of an export to ignore. */
  readonly not: string | undefined;
  /** The id of an export known to be complete, which need not be watched. */
  readonly known: string | undefined;
  /** When to give up; a check in progress is still finished. */
  readonly deadline: number;
}

const lineEnd = 0x0a;
/** A file that ends mid-line may still be growing; after this multiple of the quiet time it is accepted as it is. */
const doubtFactor = 10;
/** Timers may fire slightly early. */
const timerSlackMs = 5;

/** Waits until all files of an export are there and have stopped changing; undefined when none came in time. */
async function awaitExport(
  wanted: WantedExport,
  parts: FetchParts,
  signal: AbortSignal,
): Promise<ExportSet | undefined> {
  const { settings, clock, pause, notify } = parts;
  const { folder, pollMs, quietMs } = settings;
  const measureQuiet = createQuietWatch();
  const patient: FetchParts = {
    ...parts,
    // Keep trying a server that is away for longer than usual: there is time to wait for the export anyway.
    backOff: (failures) => parts.backOff(failures) ?? (clock() < wanted.deadline ? pollMs : undefined),
  };
  let reportedId: string | undefined;
  let isLastCheck = false;

  const look = async (session: SftpSession) => {
    const sets = findSets(await session.list(folder));
    const set = sets.find((candidate) => isWanted(candidate, wanted));
    if (!set || set.id === wanted.known) return { set, isWhole: set !== undefined, quietFor: 0 };
    const quietFor = measureQuiet(set, clock());
    const isWhole =
      quietFor >= quietMs &&
      (quietFor >= quietMs * doubtFactor || (await endsWithLines(session, set, folder)));
    return { set, isWhole, quietFor };
  };

  for (;;) {
    const { set, isWhole, quietFor } = await useSession(patient, signal, look);
    if (isWhole) return set;
    if (reportedId !== (set?.id ?? '')) {
      reportedId = set?.id ?? '';
      notify(set ? { type: 'sighted', set } : { type: 'waiting', folder, newerThan: wanted.newerThan });
    }
    const timeLeft = wanted.deadline - clock();
    if (timeLeft <= 0 && (isLastCheck || !set)) return undefined;
    // Whether a file still changes shows only in a second check.
    isLastCheck = timeLeft <= 0;
    const untilQuiet = set && quietFor < quietMs ? quietMs - quietFor + timerSlackMs : pollMs;
    await pause(
      isLastCheck ? Math.min(untilQuiet, quietMs + timerSlackMs) : Math.min(pollMs, untilQuiet, timeLeft),
      signal,
    );
    signal.throwIfAborted();
  }
}

function isWanted(set: ExportSet, { newerThan, not }: WantedExport): boolean {
  return isComplete(set) && set.id !== not && (newerThan === undefined || isFrom(set, newerThan));
}

async function endsWithLines(session: SftpSession, { files }: ExportSet, folder: string): Promise<boolean> {
  for (const { name, size } of files) {
    const end = { from: Math.max(0, size - 1), to: size };
    const [last] = await session.readRange(pathOf(folder, name), end);
    if (last !== lineEnd) return false;
  }
  return true;
}

function pathOf(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/**
 * Runs an action in a session, and again in a new one when the server failed.
 *
 * @param action is given what to call on progress: it resets the number of failures
 * @throws SftpError after too many consecutive failures, or when retrying cannot help; the signal's reason
 */
async function useSession<Result>(
  { sftp, backOff, pause, notify }: FetchParts,
  signal: AbortSignal,
  action: (session: SftpSession, progressed: () => void) => Promise<Result>,
): Promise<Result> {
  let failures = 0;
  const progressed = () => {
    failures = 0;
  };
  for (;;) {
    try {
      const session = await sftp.connect({ signal });
      try {
        return await action(session, progressed);
      } finally {
        await session.close();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SftpError && error.kind === 'retryable')) throw error;
      failures += 1;
      const delayMs = backOff(failures);
      if (delayMs === undefined) throw error;
      notify({ type: 'held-off', reason: error.message, delayMs });
      await pause(delayMs, signal);
      signal.throwIfAborted();
    }
  }
}

/**
 * Requests an export from the service and records when (in epoch milliseconds) and for which providers, but not its recipient.
 *
 * @throws MappingServiceError when the service does not accept the request; the signal's reason
 */
export async function requestExport(
  asked: ExportRequest,
  parts: {
    readonly service: Pick<MappingService, 'exportMappingsFile'>;
    readonly log: Ledger['exports'];
    readonly clock: () => number;
  },
  signal: AbortSignal,
): Promise<RequestedExport> {
  const { service, log, clock } = parts;
  const { providers } = asked;
  const requestedAt = clock();
  const { answeredAt } = await service.exportMappingsFile(asked, { signal });
  const requested = {
    requestedAt,
    // The service read its data at some time between our request and its answer.
    ...(answeredAt && { serviceTime: answeredAt.getTime() - (clock() - requestedAt) }),
    providers,
  };
  await log.rememberRequest(requested);
  return requested;
}

import { SftpError, type SftpServer, type SftpSession } from '../../transports/sftp/sftp.js';
import type { NotifyExport } from '../events.js';
import { createQuietWatch, type ExportSet, findSets, isComplete, isFrom } from './export-set.js';

export interface WatchSettings {
  /** Relative to the SFTP root, without leading or trailing slash; empty for the root itself. */
  readonly folder: string;
  readonly pollMs: number;
  /** A complete export stays unchanged for this long. */
  readonly quietMs: number;
}

export interface WatchParts extends SessionParts {
  readonly settings: WatchSettings;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Which export to wait for. */
export interface WantedExport {
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
export async function awaitExport(
  wanted: WantedExport,
  parts: WatchParts,
  signal: AbortSignal,
): Promise<ExportSet | undefined> {
  const { settings, clock, pause, notify } = parts;
  const { folder, pollMs, quietMs } = settings;
  const measureQuiet = createQuietWatch();
  const patient: WatchParts = {
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
  for (const { name } of files) {
    const [last] = await session.readEnd(pathOf(folder, name), 1);
    if (last !== lineEnd) return false;
  }
  return true;
}

export function pathOf(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

interface SessionParts {
  readonly sftp: SftpServer;
  /** The delay after this many consecutive failures, in milliseconds; undefined to give up. */
  readonly backOff: (failures: number) => number | undefined;
  /** Resolves early when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly notify: NotifyExport;
}

/** @param progressed call it on progress; it resets the number of failures */
type SessionAction<Result> = (session: SftpSession, progressed: () => void) => Promise<Result>;

/**
 * Runs an action in a session, and again in a new one when the server failed.
 *
 * @throws SftpError after too many consecutive failures, or when retrying cannot help; the signal's reason
 */
export async function useSession<Result>(
  { sftp, backOff, pause, notify }: SessionParts,
  signal: AbortSignal,
  action: SessionAction<Result>,
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

import { SftpError, type SftpServer, type SftpSession } from '../../sftp/sftp.js';
import type { ExportFileKind } from './export-log.js';
import { createQuietWatch, createSetFinder, type ExportSet, isComplete, isFrom } from './export-set.js';

/** What happens while an export is fetched, told as it happens. */
export type ExportEvent =
  /** Nothing is there yet that could be the export. @property newerThan epoch milliseconds */
  | { readonly type: 'waiting'; readonly folder: string; readonly newerThan: number | undefined }
  /** All its files are there; they are watched until they stay as they are. */
  | { readonly type: 'sighted'; readonly set: ExportSet }
  | { readonly type: 'downloading'; readonly name: string; readonly done: number; readonly total: number }
  | { readonly type: 'archived'; readonly name: string }
  /** The server failed; it is tried again after a while. */
  | { readonly type: 'held-off'; readonly reason: string; readonly delayMs: number };

export type NotifyExport = (event: ExportEvent) => void;

export interface WatchSettings {
  /** From the SFTP root, without slashes at its ends; empty for the root itself. */
  readonly folder: string;
  readonly patterns: Readonly<Record<ExportFileKind, string>>;
  readonly pollMs: number;
  /** For so long a whole export stays as it is. */
  readonly quietMs: number;
}

export interface WatchParts extends SessionParts {
  readonly settings: WatchSettings;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Which export is looked for. */
export interface WantedExport {
  /** None of its files is older, by the server's clock; epoch milliseconds. */
  readonly newerThan: number | undefined;
  /** One that was there before. */
  readonly not: string | undefined;
  /** One that is known: whether it is whole need not be seen. */
  readonly known: string | undefined;
  /** When to give up; a look that was begun is still ended. */
  readonly deadline: number;
}

const lineEnd = 0x0a;
/** A file that ends in mid-line may still be written to; after so many times the usual quiet it is taken as it is. */
const doubtFactor = 10;
/** Timers may be early by a moment. */
const timerSlackMs = 5;

/** Waits for an export of which all files are there and are not written to any more; undefined when none came in time. */
export async function awaitExport(
  wanted: WantedExport,
  parts: WatchParts,
  signal: AbortSignal,
): Promise<ExportSet | undefined> {
  const { settings, clock, pause, notify } = parts;
  const { folder, patterns, pollMs, quietMs } = settings;
  const findSets = createSetFinder(patterns);
  const measureQuiet = createQuietWatch();
  const patient: WatchParts = {
    ...parts,
    // A server that is away for longer than usual is looked at again: there is time to wait for the export, after all.
    backOff: (failures) => parts.backOff(failures) ?? (clock() < wanted.deadline ? pollMs : undefined),
  };
  let told: string | undefined;
  let isLastLook = false;

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
    if (told !== (set?.id ?? '')) {
      told = set?.id ?? '';
      notify(set ? { type: 'sighted', set } : { type: 'waiting', folder, newerThan: wanted.newerThan });
    }
    const timeLeft = wanted.deadline - clock();
    if (timeLeft <= 0 && (isLastLook || !set)) return undefined;
    // Whether a file is written to is seen by a second look.
    isLastLook = timeLeft <= 0;
    const untilQuiet = set && quietFor < quietMs ? quietMs - quietFor + timerSlackMs : pollMs;
    await pause(
      isLastLook ? Math.min(untilQuiet, quietMs + timerSlackMs) : Math.min(pollMs, untilQuiet, timeLeft),
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

export interface SessionParts {
  readonly sftp: SftpServer;
  /** How long to wait after so many failures in a row, in milliseconds; undefined where that is enough. */
  readonly backOff: (failures: number) => number | undefined;
  /** Resolves early when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly notify: NotifyExport;
}

/** @param progressed to be called when something was gained: failures before it count no more */
type SessionAction<Result> = (session: SftpSession, progressed: () => void) => Promise<Result>;

/**
 * Does something in a session of its own, and once more in another one where the server failed.
 *
 * @throws SftpError when the server failed too often in a row, or is not to be asked again; the signal's reason
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

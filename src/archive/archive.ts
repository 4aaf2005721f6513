import { isPlainName } from '../text/plain-name.js';
import { SafeError } from '../text/safe-error.js';

/** A file in the archive. */
export interface ArchivedFile {
  readonly name: string;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/**
 * The kept evidence of file runs, one folder per run: `<day>/<run>/`. (Design 2 and 5.)
 *
 * Every method throws ArchiveError `unsafe-name` for a day, run or name that is not a plain file name; see expectSafeName.
 */
export interface Archive {
  /** The place of a run's evidence, for display and for `archivedTo`. Contains no secrets. */
  locate(day: string, runId: string): string;
  /**
   * Keeps a file under that name atomically: written under a temporary name, synced, then renamed. Keeping the same bytes
   * again changes nothing; other bytes under a name in use are refused. Also removes what a killed `keep` of that run
   * left. Rethrows what `content` throws; then nothing is kept.
   *
   * @param sha256 what the content must be, in hexadecimal: anything else is not kept
   * @throws ArchiveError `different-content`, `unexpected-content`, `unwritable`
   */
  keep(
    day: string,
    runId: string,
    name: string,
    content: AsyncIterable<Uint8Array>,
    sha256?: string,
  ): Promise<ArchivedFile>;
  /**
   * A block is valid until the next one is read.
   *
   * @throws ArchiveError `absent` when there is no such file, `unreadable`; both during iteration
   */
  read(day: string, runId: string, name: string): AsyncIterable<Uint8Array>;
  /** The names of the run's files, sorted; empty when there is no such run. @throws ArchiveError `unreadable` */
  list(day: string, runId: string): Promise<readonly string[]>;
  /**
   * Deletes files, for example after `guestNameDays`, and what a killed `keep` left. Missing files are no error.
   *
   * @throws ArchiveError `unwritable`
   */
  remove(day: string, runId: string, names: readonly string[]): Promise<void>;
}

/**
 * In place of a day: the pages of days as they were when a run of the day ended, by day, as `RUN-STATE.html`. They name no booking,
 * check-in or guest.
 */
export const reportsFolder = 'reports';

/** An archive that stores files as they are. */
export interface StoringArchive extends Archive {
  /** Like `keep`, under an unused name, for content that authenticates itself: no checksum is computed. */
  add(day: string, runId: string, name: string, content: AsyncIterable<Uint8Array>): Promise<void>;
}

export type ArchiveErrorCode =
  | 'absent'
  | 'different-content'
  | 'unexpected-content'
  | 'unsafe-name'
  | 'unreadable'
  | 'unwritable';

/** The message names the place and the reason, never content. */
export class ArchiveError extends SafeError {
  override readonly name = 'ArchiveError';
  constructor(
    readonly code: ArchiveErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** @throws ArchiveError `unexpected-content` if the checksum is not the expected one */
export function expectContent(path: string, found: string, expected: string | undefined): void {
  if (expected === undefined || found === expected) return;
  throw new ArchiveError('unexpected-content', `${path} is not kept: its checksum is not the expected one`);
}

/** In bytes of UTF-8; file systems allow 255. */
const longestName = 200;

/**
 * Returns the name if it is a plain file name and not too long. Names come from other people's servers.
 *
 * @throws ArchiveError `unsafe-name`
 */
export function expectSafeName(name: string): string {
  if (isPlainName(name) && Buffer.byteLength(name) <= longestName) return name;
  throw new ArchiveError('unsafe-name', `the archive cannot use the name ${describe(name)}`);
}

function describe(name: string): string {
  return JSON.stringify(name.length > longestName ? `${name.slice(0, longestName)}…` : name);
}

/** Runs tasks with the same key one after the other, and those with different keys concurrently. */
export function createKeyedMutex() {
  /** For each key the end of the last task; it never rejects. */
  const last = new Map<string, Promise<unknown>>();
  return async function run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const result = (last.get(key) ?? Promise.resolve()).then(task);
    const ended = result.catch(() => {});
    last.set(key, ended);
    try {
      return await result;
    } finally {
      if (last.get(key) === ended) last.delete(key);
    }
  };
}

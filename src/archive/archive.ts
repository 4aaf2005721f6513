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
   * Keeps a file under that name, whole or not at all: written under a temporary name, synced, then renamed. Keeping the
   * same bytes again changes nothing; other bytes under a name in use are refused. Also removes what a killed `keep` of
   * that run left. Rethrows what `content` throws; then nothing is kept.
   *
   * @throws ArchiveError `different-content`, `unwritable`
   */
  keep(day: string, runId: string, name: string, content: AsyncIterable<Uint8Array>): Promise<ArchivedFile>;
  /** @throws ArchiveError `absent` when there is no such file, `unreadable`; both during iteration */
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

export type ArchiveErrorCode = 'absent' | 'different-content' | 'unsafe-name' | 'unreadable' | 'unwritable';

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

const unsafeCharacter = /[/\\\p{Cc}\p{Cs}\u2028\u2029]/u;

/**
 * Whether this is a plain file name on every system, without a way out of its folder: not empty, no slash or backslash,
 * no leading dot, no control character, no lone surrogate. Does not check the length.
 */
export function isPlainName(name: string): boolean {
  return name !== '' && !name.startsWith('.') && !unsafeCharacter.test(name);
}

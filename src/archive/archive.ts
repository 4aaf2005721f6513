import { SafeError } from '../text/safe-error.js';

/** What was kept under a name. */
export interface ArchivedFile {
  readonly name: string;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/**
 * The kept evidence of file runs: a folder a run, `<day>/<run>/`. (Design 2 and 5.)
 *
 * Every method throws ArchiveError `unsafe-name` for a day, run or name that is no plain file name, see safe-name.ts.
 */
export interface Archive {
  /** Where a run's evidence lies, for people and for `archivedTo`. Without secrets. */
  locate(day: string, runId: string): string;
  /**
   * Keeps a file under that name, whole or not at all: under a temporary name first, made durable, then renamed.
   * Keeping the same bytes again changes nothing; other bytes under a name that is taken are refused. What a killed
   * `keep` of that run left behind goes. What `content` throws comes through, and then nothing is kept.
   *
   * @throws ArchiveError `different-content`, `unwritable`
   */
  keep(day: string, runId: string, name: string, content: AsyncIterable<Uint8Array>): Promise<ArchivedFile>;
  /** @throws ArchiveError `absent` when there is no such file, `unreadable`; both while it is being iterated */
  read(day: string, runId: string, name: string): AsyncIterable<Uint8Array>;
  /** The names of the run's whole files, sorted; none when there is no such run. @throws ArchiveError `unreadable` */
  list(day: string, runId: string): Promise<readonly string[]>;
  /**
   * Deletes files, for instance after `guestNameDays`, and what a killed `keep` left of any; those that are gone
   * already are fine. @throws ArchiveError `unwritable`
   */
  remove(day: string, runId: string, names: readonly string[]): Promise<void>;
}

export type ArchiveErrorCode = 'absent' | 'different-content' | 'unsafe-name' | 'unreadable' | 'unwritable';

/** The message names place and reason, never content. */
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

/** In UTF-8; file systems allow 255. */
const longestName = 200;

/**
 * Lets through what is a plain file name and not too long. Names come from servers of others.
 *
 * @throws ArchiveError `unsafe-name`
 */
export function expectSafeName(name: string): string {
  if (isPlainName(name) && Buffer.byteLength(name) <= longestName) return name;
  throw new ArchiveError('unsafe-name', `the archive keeps nothing under the name ${describe(name)}`);
}

function describe(name: string): string {
  return JSON.stringify(name.length > longestName ? `${name.slice(0, longestName)}…` : name);
}

const unsafeCharacter = /[/\\\p{Cc}\p{Cs}\u2028\u2029]/u;

/**
 * Whether that is a plain file name everywhere, of a file inside its folder: not empty, no slash of either kind, no
 * leading dot, no control character, no half of a character. Its length is not looked at.
 */
export function isPlainName(name: string): boolean {
  return name !== '' && !name.startsWith('.') && !unsafeCharacter.test(name);
}

import { explainNoRoom } from './disk-room.js';

/**
 * An error whose message may be shown anywhere: on a terminal, in logs, in a response. All our own error classes with
 * messages for people extend it; their messages quote neither guest data nor secrets. The message of any other error
 * might quote the data that caused it, and is withheld.
 */
export class SafeError extends Error {}

/** Whether an error's message may be shown. */
export function isSafeToShow(error: Error): boolean {
  // The messages of system and database errors name paths and codes only.
  const isOfSystem = 'syscall' in error || error.name === 'SqliteError';
  return isOfSystem || error instanceof SafeError;
}

/** The message of an error that is safe to show; of any other only its name and code. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unexpected error';
  if (isSafeToShow(error)) return `${error.message}${describeRoom(error)}`;
  const code = codeOf(error);
  return `unexpected ${error.name}${code === undefined ? '' : ` ${code}`}`;
}

/** The system's words are the same whether space, inodes or a quota are used up. */
function describeRoom(error: Error): string {
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined;
  const why = path === undefined ? undefined : explainNoRoom(error, path);
  return why === undefined ? '' : ` (the disk ${why})`;
}

/** The code of an error, such as ENOENT; undefined where it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The request does not fit the state of the day, the configuration or the command line. */
export class UsageError extends SafeError {
  override readonly name = 'UsageError';
}

/** The reason of an abort by a signal: a person, or a machine shutting down, asked the process to stop. */
export class StoppedError extends SafeError {
  override readonly name = 'StoppedError';
  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
  }
}

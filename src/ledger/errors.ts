import { isFull } from '../base/disk-room.js';
import { needsPerson, type PeerFault } from '../base/peer-patience.js';
import { SafeError } from '../base/safe-error.js';

/** A write under an outdated token: another process has taken the run over. */
export class FencedError extends SafeError {
  override readonly name = 'FencedError';
  constructor(readonly runId: string) {
    super(`run ${runId} was taken over by another process; this one stops writing to it`);
  }
}

/** The ledger can't be read or written. */
class LedgerError extends SafeError {}

/** Whether a failure is one of the ledger: it is full, damaged, locked, read-only or away, or is not the right one. */
export function isLedgerFault(error: unknown): error is Error {
  return error instanceof LedgerError || (error instanceof Error && error.name === 'SqliteError');
}

/** Another process held the database for longer than `busyTimeoutMs`. */
export class DatabaseBusyError extends LedgerError {
  override readonly name = 'DatabaseBusyError';
}

/** The ledger can't be used until a person fixes something. */
export class LedgerUnusableError extends LedgerError {
  override readonly name = 'LedgerUnusableError';
  constructor(
    /** The path of its file, or the address of its server without a password. */
    readonly location: string,
    /** What was expected, what was found, and what to do. */
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`the ledger ${location} cannot be used: ${reason}`, options);
  }
}

/** The ledger's server refuses us, or can't hold a ledger. */
export class LedgerRefusedError extends LedgerUnusableError {
  constructor(
    location: string,
    readonly fault: Exclude<PeerFault, 'passing' | 'read-only'>,
    readonly reason: string,
  ) {
    super(location, reason);
  }
}

/** The ledger does not respond. What was written stays, and the next run resumes from there. */
export class LedgerAwayError extends LedgerError {
  override readonly name = 'LedgerAwayError';
  readonly fault: PeerFault;
  constructor(
    /** Its address, without a password. */
    readonly location: string,
    {
      fault = 'passing',
      reason,
      cause,
    }: { readonly fault?: PeerFault; readonly reason?: string; readonly cause?: unknown } = {},
  ) {
    super(
      reason === undefined
        ? `the ledger ${location} does not answer: check that it is running and reachable, then run the command again`
        : `the ledger ${location} cannot be used at the moment: ${reason}`,
      cause === undefined ? undefined : { cause },
    );
    this.fault = fault;
  }
}

/** What keeps everybody from using the ledger until a person does something. */
export type LedgerProblem = LedgerUnusableError | LedgerAwayError;

/** Whether waiting alone won't help. */
export function isLedgerProblem(error: unknown): error is LedgerProblem {
  if (error instanceof LedgerAwayError) return needsPerson(error.fault);
  return error instanceof LedgerUnusableError;
}

/** The disk is full. What was written stays, and the next run resumes from there. */
export class LedgerFullError extends LedgerError {
  override readonly name = 'LedgerFullError';
  constructor(
    /** The path of its file. */
    readonly location: string,
    { why = isFull, ...options }: ErrorOptions & { readonly why?: string | undefined } = {},
  ) {
    super(`the disk of the ledger ${location} ${why}, then run the command again`, options);
  }
}

/** Another process has continued the cycle of a sync. */
export class SyncOvertakenError extends SafeError {
  override readonly name = 'SyncOvertakenError';
}

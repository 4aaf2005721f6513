import { SafeError } from '../text/safe-error.js';

/** A write under an outdated token: another process has taken the run over. */
export class FencedError extends SafeError {
  override readonly name = 'FencedError';
  constructor(readonly runId: string) {
    super(`run ${runId} was taken over by another process; this one stops writing to it`);
  }
}

/** The ledger can't be used until a person fixes something. */
export class LedgerUnusableError extends SafeError {
  override readonly name = 'LedgerUnusableError';
  constructor(
    /** The path of its file, or the address of its server without a password. */
    readonly place: string,
    /** What was expected, what was found, and what to do. */
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`the ledger ${place} cannot be used: ${reason}`, options);
  }
}

/** The ledger does not respond. What was written stays, and the next run resumes from there. */
export class LedgerAwayError extends SafeError {
  override readonly name = 'LedgerAwayError';
  constructor(
    /** Its address, without a password. */
    readonly place: string,
    options?: ErrorOptions,
  ) {
    super(
      `the ledger ${place} does not answer: check that it is running and reachable, then run the command again`,
      options,
    );
  }
}

/** The disk is full. What was written stays, and the next run resumes from there. */
export class LedgerFullError extends SafeError {
  override readonly name = 'LedgerFullError';
  constructor(
    /** The path of its file. */
    readonly place: string,
    options?: ErrorOptions,
  ) {
    super(`the disk of the ledger ${place} is full: free some space, then run the command again`, options);
  }
}

/** Another process has continued the cycle of a sync. */
export class SyncOvertakenError extends SafeError {
  override readonly name = 'SyncOvertakenError';
}

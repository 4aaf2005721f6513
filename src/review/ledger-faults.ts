import { SafeError } from '../text/safe-error.js';

/** A write under an outdated token: somebody else has taken the run over. */
export class FencedError extends SafeError {
  override readonly name = 'FencedError';
  constructor(readonly runId: string) {
    super(`run ${runId} was taken over by another process; this one stops writing to it`);
  }
}

/** The ledger can't be used as it is configured: a person has to mend that before anything can be done. */
export class LedgerUnusableError extends SafeError {
  override readonly name = 'LedgerUnusableError';
  constructor(
    /** The path of its file; of a database elsewhere its address, without a password. */
    readonly place: string,
    /** What was expected, what there is, and what to do. */
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`the ledger ${place} cannot be used: ${reason}`, options);
  }
}

/** The ledger doesn't answer: what was written before stays, and the next run goes on from there. */
export class LedgerAwayError extends SafeError {
  override readonly name = 'LedgerAwayError';
  constructor(
    /** Its address, without a password. */
    readonly place: string,
    options?: ErrorOptions,
  ) {
    super(
      `the ledger ${place} does not answer: see that it runs and can be reached, and run it again`,
      options,
    );
  }
}

/** There is no room for what is to be written. What was written before stays, and the next run goes on from there. */
export class LedgerFullError extends SafeError {
  override readonly name = 'LedgerFullError';
  constructor(
    /** The path of its file. */
    readonly place: string,
    options?: ErrorOptions,
  ) {
    super(`the disk of the ledger ${place} is full: make room there and run it again`, options);
  }
}

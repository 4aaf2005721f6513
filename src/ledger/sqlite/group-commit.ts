import { type Database, DatabaseBusyError } from './database.js';

/** Groups frequent small writes into shared commits. */
export interface GroupCommit {
  /**
   * Runs the work in one transaction with all other work requested in the same turn of the event loop, in that order;
   * resolves once it is on disk. If it throws, only its own changes are undone. It may run again after a rollback, so it
   * must have no other effects.
   */
  transact<Result>(work: () => Result): Promise<Result>;
  /** Commits everything requested so far. */
  flush(): void;
}

interface Piece {
  /** Returns the function that reports that it is committed. */
  readonly work: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** A commit waits for the disk, which is most of the time of a small transaction, so many transactions share one. */
export function createGroupCommit(database: Database): GroupCommit {
  let gathered: Piece[] = [];

  function flush(): void {
    const pieces = gathered;
    gathered = [];
    if (pieces.length > 0) perform(pieces);
  }

  function perform(pieces: readonly Piece[]): void {
    try {
      const reports = database.transact(() => pieces.map(({ work }) => work()));
      for (const report of reports) report();
    } catch (error) {
      if (pieces.length === 1 || error instanceof DatabaseBusyError) {
        for (const { reject } of pieces) reject(error);
      } else {
        // Everything was rolled back: running each by itself shows which one failed.
        for (const piece of pieces) perform([piece]);
      }
    }
  }

  return {
    transact: (work) =>
      new Promise((resolve, reject) => {
        if (gathered.length === 0) setImmediate(flush);
        gathered.push({
          work() {
            const result = work();
            return () => resolve(result);
          },
          reject,
        });
      }),
    flush,
  };
}

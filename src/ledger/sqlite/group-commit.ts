import { type Database, DatabaseBusyError } from './database.js';

/** Writes that come thick and fast, together on disk. */
export interface GroupCommit {
  /**
   * Does the work in one transaction with all that is asked for in the same turn of the event loop, in that order; answers
   * when it is on disk. Work that throws is undone alone. It may be done anew, after a rollback: it has no other effects.
   */
  transact<Result>(work: () => Result): Promise<Result>;
  /** Does what was asked for so far. */
  flush(): void;
}

interface Piece {
  /** Answers how to tell that it is done. */
  readonly work: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** A commit waits for the disk, and is the greater part of a small transaction: many share one. */
export function createGroupCommit(database: Database): GroupCommit {
  let gathered: Piece[] = [];

  function flush(): void {
    const pieces = gathered;
    gathered = [];
    if (pieces.length > 0) perform(pieces);
  }

  function perform(pieces: readonly Piece[]): void {
    try {
      const done = database.transact(() => pieces.map(({ work }) => work()));
      for (const tell of done) tell();
    } catch (error) {
      if (pieces.length === 1 || error instanceof DatabaseBusyError) {
        for (const { reject } of pieces) reject(error);
      } else {
        // All of it was rolled back: each by itself shows which one it was.
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

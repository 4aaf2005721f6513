import type { Run } from './run.js';
import type { BookingForm } from './step.js';

/** Blanks guest names and removes old days. */
export interface Retention {
  /** When the newest of the runs that started by then started; undefined if none did. */
  findLastStart(by: number): Promise<number | undefined>;
  /** Runs of days before `before`, in any state, whose guest names are not blanked yet or that wrote since then. */
  listRunsWithNames(before: string): Promise<Run[]>;
  /** Runs of days before `before` whose bookings and verdicts are not removed yet. */
  listRunsWithRecords(before: string): Promise<Run[]>;
  /**
   * Rewrites the bookings of these runs without guest names, once, and removes the service's own words. Runs that somebody is
   * working on are left for the next time.
   *
   * @param forget removes what is kept elsewhere of a run, while nobody works on its day; called before the ledger changes
   * @throws KeyError, when the other runs are done, if bookings can't be decrypted
   */
  blankGuestNames(
    before: string,
    blank: (lines: Buffer, form: BookingForm) => Buffer,
    forget?: (run: Run) => Promise<void>,
  ): Promise<number>;
  /**
   * Removes bookings, steps and verdicts of days before `before`, also from cases, and what the audit trail recorded before;
   * the rows of the runs stay.
   */
  prune(before: string): Promise<number>;
  /**
   * Removes what the ledger's files still hold of the bytes of removed data: the last step of each removal of personal data.
   * Does nothing while that would keep somebody waiting; whoever cleans up next does it then.
   *
   * @returns what remains, if anything does
   */
  clearRemains(limits?: RewriteLimits): Promise<Remains | undefined>;
}

export interface RewriteLimits {
  /** Leaves a larger file as it is. */
  readonly atMostBytes?: number;
}

/** Such a file is rewritten within a few seconds: other processes wait longer than that for a write. */
export const quickRewrite: RewriteLimits = { atMostBytes: 500_000_000 };

/** Bytes of removed data that are still in the ledger's files. */
export interface Remains {
  readonly why: string;
  /** When they go. */
  readonly until: string;
}

export interface KeptDataReader {
  /** The personal data in the ledger. */
  describeKept(): Promise<KeptData>;
}

export interface KeptData {
  /** Stored bookings, and the first business day with stored bookings or rejects. */
  readonly bookings: { readonly count: number; readonly since?: string };
  /** The same for those whose guests' names are still there. */
  readonly names: { readonly count: number; readonly since?: string };
  /** Bookings in cases, and the first business day of one. */
  readonly cases: { readonly count: number; readonly since?: string };
  /** The verdict e-mails that were read, and when the first was. */
  readonly mails: { readonly count: number; readonly since?: number };
  /** The entries of the audit trail, and when the oldest was recorded. */
  readonly actions: { readonly count: number; readonly since?: number };
}

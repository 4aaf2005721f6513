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

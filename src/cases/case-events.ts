/** What happened to cases; counts only. */
export type CaseEvent =
  /** Opened, or reopened on new evidence. */
  | { readonly type: 'case-opened'; readonly cases: number; readonly bookings: number }
  /** The mapping moved: the bookings of these cases stay open. */
  | { readonly type: 'case-corrected'; readonly cases: number }
  /** Reported, and not corrected in time. */
  | { readonly type: 'case-escalated'; readonly cases: number };

export type NotifyCases = (event: CaseEvent) => void;

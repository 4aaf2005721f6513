import type { AuditedAction, RecordedAction } from '../ledger/audit.js';
import type { HeldCase } from './case.js';
import type { CaseContent } from './case-bookings.js';
import type { CaseDecision } from './case-store.js';

/** Who did what, for the audit trail. */
export interface Act {
  readonly who: string;
  readonly at: number;
  readonly action: AuditedAction;
  /** A booking's reference; without it, the subject is the case. */
  readonly subject?: string | undefined;
  readonly details?: RecordedAction['details'];
}

/** The actor of everything that happens to cases automatically. */
export const automatic = 'hotel-review';

/** What a store must write for a case to become `next`; undefined if nothing changes. */
export function toDecision(
  held: HeldCase | undefined,
  next: CaseContent,
  actions: readonly Act[],
): CaseDecision | undefined {
  if (held === next) return undefined;
  const known = new Set(held?.bookings);
  const { bookings, ...row } = next;
  return { case: row, bookings: bookings.filter((booking) => !known.has(booking)), actions };
}

import type { ReadOnlyLedger } from '../ledger/ledger.js';
/** What people did with guests' data, what they had the service do, and who may do it. */
export type AuditedAction = (typeof auditedActions)[number];
export const auditedActions = [
  'show',
  'affected',
  'rejected',
  'refused',
  'posted',
  'suspects',
  'run',
  'replay',
  'cancel',
  'look',
  'sync',
  'notify-test',
  'dry-run',
  'report',
  'evidence',
  'download',
  'guest-export',
  'guest-erase',
  'guest-purge',
  'keys-rotate',
  'keys-forget',
  'verdicts-import',
  'cases',
  'case',
  'case-opened',
  'case-updated',
  'case-reported',
  'case-escalated',
  'case-corrected',
  'case-dismissed',
  'case-reopened',
  'case-assigned',
  'case-noted',
  'case-resolved',
  'sign-in',
  'sign-in-failed',
  'sign-out',
  'user-add',
  'user-remove',
] as const;

/** What was done, and to what. Nothing in it may be a guest's name. */
export interface Action {
  readonly action: AuditedAction;
  /** A booking reference, a day, or a range of days. */
  readonly subject?: string | undefined;
  /** The options that decide how much was revealed, and how much was found. */
  readonly details?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
}

export interface RecordedAction extends Action {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The operating system's user, `NAME (desk)`, or `serve`. */
  readonly who: string;
}

/** An entry of the trail, as `audit --json` prints it. */
export function auditEntryToJson({ at, who, action, subject, details }: RecordedAction) {
  return { at: new Date(at).toISOString(), who, action, subject: subject ?? null, details: details ?? {} };
}

export interface AuditFilter {
  /** The first and the last instant, in epoch milliseconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly subject?: string | undefined;
  readonly action?: AuditedAction | undefined;
  /** A part of the name, in any case. */
  readonly who?: string | undefined;
}

export interface RecordedActions {
  readonly cursor: number;
  readonly actions: readonly RecordedAction[];
}

export interface LatestActions {
  readonly actions: readonly RecordedAction[];
  /** Of the oldest entry here; absent where there is no older one. */
  readonly cursor?: number;
  readonly total: number;
}

/** All entries, in the order in which they were recorded, in chunks. */
export async function* readActions(
  audit: ReadOnlyLedger['audit'],
  filter: AuditFilter = {},
): AsyncGenerator<readonly RecordedAction[], void, undefined> {
  let after: number | undefined;
  for (;;) {
    const chunk = await audit.nextActions(filter, after);
    if (!chunk) return;
    yield chunk.actions;
    after = chunk.cursor;
  }
}

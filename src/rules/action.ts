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
  'backup',
  'download',
  'guest-export',
  'guest-erase',
  'guest-purge',
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

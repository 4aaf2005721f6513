import type { RecordedAction } from '../review/audit.js';

/** One entry of the audit trail, as `audit --json` prints it. */
export function toAuditEntry({ at, who, action, subject, details }: RecordedAction) {
  return { at: new Date(at).toISOString(), who, action, subject: subject ?? null, details: details ?? {} };
}

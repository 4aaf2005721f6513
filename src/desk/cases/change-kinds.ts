import type { CaseRequest } from '../../cases/case-requests.js';

/** A change to the mapping of cases; bookings are resolved case by case. */
export type BulkKind = Exclude<CaseRequest['kind'], 'resolve'>;

interface KindWords {
  /** On the button that leads to the preview. */
  readonly button: string;
  /** What it means. */
  readonly meaning: string;
  /** For the message afterwards: `3 cases are reported`. */
  readonly done: string;
  readonly needsNote?: true;
}

export const bulkKinds: Readonly<Record<BulkKind, KindWords>> = {
  report: {
    button: 'Report',
    meaning:
      'Marks the mapping as reported to the service: report it there first. If a sync does not show its correction in time, the case is escalated.',
    done: 'reported',
  },
  assign: { button: 'Assign', meaning: 'Says who takes care of it.', done: 'assigned' },
  note: { button: 'Note', meaning: 'Replaces the note of the case.', done: 'noted' },
  dismiss: {
    button: 'Dismiss',
    meaning: 'Says that the mapping is right after all. Only new evidence opens the case again.',
    done: 'dismissed',
    needsNote: true,
  },
  reopen: {
    button: 'Reopen',
    meaning: 'Says that somebody has to act on the mapping again.',
    done: 'open again',
  },
};

import type { LedgerFacts } from '../../../src/desk/server/ledger-metrics.js';
import type { CaseCounts } from '../../../src/ledger/cases.js';
import { noRuns } from '../../schedule/ledger-days.js';

export const noCases: CaseCounts = {
  byState: { open: 0, reported: 0, escalated: 0, corrected: 0, dismissed: 0 },
  openBookings: 0,
  unknownCheckIns: 0,
  inHouse: 0,
};

/** What an empty ledger says, apart from the overrides. */
export function someFacts(facts: Partial<LedgerFacts> = {}): LedgerFacts {
  return {
    summary: { runsByState: noRuns },
    recentDays: {
      ...{ good: 0, incomplete: 0, 'to-be-accepted': 0, missing: 0 },
      ...{ collecting: 0, delivering: 0, 'awaiting-result': 0, failed: 0, cancelled: 0 },
    },
    cases: noCases,
    problems: { 'day-late': 0 },
    messages: { pending: 0, givenUp: 0, perhapsReceived: 0 },
    ...{ latestDay: undefined, missedCanaries: undefined, mappingsReach: undefined },
    ...facts,
  };
}

/** A day by file with every kind of outcome. */
export const someDay: NonNullable<LedgerFacts['latestDay']> = {
  day: '2026-11-20',
  records: { accepted: 990, rejected: 3, filtered: 7 },
  bookings: { delivered: 980, refused: 1, pending: 9 },
  posted: 4,
  affected: 2,
  unanswered: 5,
  suspects: 6,
  providers: new Map([
    ['Hotelbeds', 900],
    ['other', 90],
  ]),
};

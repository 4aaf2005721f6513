import type { Counts, Run } from '../../src/rules/run.js';

type Overrides = Partial<Omit<Run, 'counts'>> & { readonly counts?: Partial<Counts> };

/** A delivered run that is done, apart from the overrides. */
export function someRun({ counts, ...run }: Overrides = {}): Run {
  return {
    id: '20261120-k3f9xq7d',
    day: '2026-11-20',
    delivery: 'body',
    trigger: 'manual',
    state: 'succeeded',
    token: 1,
    source: '/exports/bookings-2026-11-20.csv',
    startedAt: Date.parse('2026-11-21T02:30:00Z'),
    collectStartedAt: Date.parse('2026-11-21T02:30:00Z'),
    collectedAt: Date.parse('2026-11-21T02:30:02Z'),
    finishedAt: Date.parse('2026-11-21T02:30:12.300Z'),
    pausedMs: 0,
    openSteps: 0,
    failedSteps: 0,
    failuresInRow: 0,
    verdictsRecorded: 0,
    ...run,
    counts: {
      read: 1_000,
      accepted: 990,
      duplicates: 7,
      rejected: 3,
      filtered: 0,
      carried: 0,
      delivered: 990,
      refused: 0,
      pending: 0,
      repeated: 0,
      posted: 0,
      affected: 0,
      unanswered: 0,
      ...counts,
    },
  };
}

/** Of a day as a whole; with a provider, of that one. */
export const drop = { provider: null, accepted: 9, usual: 99 };
export const fewBookings = { accepted: 9, usual: 99, drops: [drop] };
export const manyAffected = { affected: 30, judged: 200 };

import type { DayCounts } from '../../src/rules/day-outcome.js';
import { type DayOutcome, summariseDay } from '../../src/rules/day-outcome.js';
import type { Counts, Run } from '../../src/rules/run.js';

const day = '2026-11-20';

/** What a day came to whose runs, newest first, hold different bookings; cancelled ones were replaced. */
export function outcomeOf(runs: readonly Run[], counts: Partial<DayCounts> = {}, of = day): DayOutcome {
  const sent = runs.filter(({ state }) => state !== 'cancelled');
  const sum = (name: keyof Counts) => {
    const known = sent.flatMap((run) => run.counts[name] ?? []);
    return known.length === 0 ? null : known.reduce((total, count) => total + count);
  };
  const byFile = sent.some(({ delivery }) => delivery === 'file');
  const posted = sent.map((run) => (run.delivery === 'file' ? run.counts.posted : run.counts.accepted));
  const suspects = sent.flatMap((run) => run.suspects ?? []);
  return summariseDay(of, runs, {
    ...{ accepted: sum('accepted') ?? 0, delivered: sum('delivered') ?? 0 },
    ...{ refused: sum('refused') ?? 0, pending: sum('pending') ?? 0 },
    posted: byFile ? posted.reduce((total, count) => total + count, 0) : 0,
    ...{ affected: sum('affected'), unanswered: sum('unanswered') },
    suspects: suspects.length === 0 ? null : suspects.reduce((total, count) => total + count),
    senders: sent.filter((run) => run.counts.accepted > 0).map(({ id }) => id),
    ...counts,
  });
}

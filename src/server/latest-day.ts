import type { Counts, Run } from '../ledger/run.js';
import { sumKnown, summariseVerdicts } from '../review/verdicts/day-verdicts.js';
import { showInLine } from '../text/foreign-text.js';

/** What became of the bookings of one day, over all runs that sent it. Null stands for unknown. */
export interface LatestDay {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly records: Readonly<Record<'accepted' | 'rejected' | 'filtered', number>>;
  /** The accepted ones. */
  readonly bookings: Readonly<Record<'delivered' | 'refused' | 'pending', number>>;
  readonly posted: number;
  readonly affected: number | null;
  readonly unanswered: number | null;
  readonly suspects: number | null;
  /** Accepted bookings by provider, the largest first, the rest as `other`; empty where they were not counted. */
  readonly providers: ReadonlyMap<string, number>;
}

/** Each value of a label is a series of its own for Prometheus: a day has few of them, whatever its source holds. */
const namedProviders = 20;
const longestName = 100;
const otherProviders = 'other';

/**
 * @param runs of the day, newest first
 * @param providers accepted bookings by provider; null where they were not counted
 */
export function summariseLatestDay(
  day: string,
  runs: readonly Run[],
  providers: Readonly<Record<string, number>> | null,
): LatestDay {
  const { runs: senders, affected, unanswered, posted } = summariseVerdicts(day, runs);
  const sum = (name: 'accepted' | 'delivered' | 'refused' | 'pending') =>
    senders.reduce((total, { counts }) => total + counts[name], 0);
  // A run that tops a day up reads the whole source again: what it can't send was counted before.
  const newest: Partial<Counts> = senders[0]?.counts ?? {};
  return {
    day,
    records: { accepted: sum('accepted'), rejected: newest.rejected ?? 0, filtered: newest.filtered ?? 0 },
    bookings: { delivered: sum('delivered'), refused: sum('refused'), pending: sum('pending') },
    posted,
    affected,
    unanswered,
    suspects: sumKnown(senders.map(({ suspects }) => suspects ?? null)),
    providers: joinSmall(Object.entries(providers ?? {})),
  };
}

function joinSmall(providers: readonly (readonly [string, number])[]): ReadonlyMap<string, number> {
  const sorted = [...providers].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  const joined = new Map<string, number>();
  for (const [place, [name, bookings]] of sorted.entries()) {
    const label =
      place < namedProviders ? [...showInLine(name)].slice(0, longestName).join('') : otherProviders;
    joined.set(label, (joined.get(label) ?? 0) + bookings);
  }
  return joined;
}

import type { Colour, Paint } from '../base/colours.js';
import { formatCount } from '../base/format.js';
import { type Counts, hasSentNothing, mayHaveResult, type Run, type RunState } from './run.js';

/** Whether some bookings of a run or a day have no verdict that this program knows: nothing about it may look good. */
export function hasUnknownVerdicts({
  accepted,
  affected,
  unanswered,
  posted,
}: Pick<Counts, 'accepted' | 'affected' | 'unanswered' | 'posted'>): boolean {
  return accepted > 0 && (affected === null || unanswered !== 0 || posted > 0);
}

/** What a run is called: one that succeeded, but whose verdicts come by e-mail only, was just sent. */
export function nameState({ state, counts }: Run): RunState | 'sent' {
  return state === 'succeeded' && counts.accepted > 0 && counts.affected === null ? 'sent' : state;
}

const colours: Readonly<Record<Exclude<RunState, 'succeeded'>, Colour>> = {
  collecting: 'blue',
  delivering: 'blue',
  'awaiting-result': 'yellow',
  failed: 'red',
  cancelled: 'gray',
};

/** Colours the state of a run. Green is only for one that `describeRun` calls good. */
export function paintState(paint: Paint, { state }: Run, isGood: boolean, text: string): string {
  if (state !== 'succeeded') return paint(colours[state], text);
  return isGood ? paint('green', text) : text;
}

/** Where no number is known, this says why. */
export type Unknown = 'by e-mail' | 'no result' | '-';

/** How many bookings of a run are affected, or why that is not known: never 0. */
export function countAffected(run: Pick<Run, 'delivery' | 'state' | 'counts'>): number | Unknown {
  const { affected, accepted } = run.counts;
  if (affected !== null) return affected;
  if (accepted === 0 || hasSentNothing(run)) return '-';
  return mayHaveResult(run) ? 'no result' : 'by e-mail';
}

/** The sum of the known ones; null if none is known. */
export function sumKnown(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null);
  return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
}

export function formatKnown(count: number | string): string {
  return typeof count === 'number' ? formatCount(count) : count;
}

/** Shown only where they are not 0. */
const rareCounts: readonly string[] = ['filtered', 'carried', 'posted'];

/** The counts of a run, by the names that its JSON has, in the order in which its records go; words say why one is not known. */
export function listCounts(run: Pick<Run, 'delivery' | 'state' | 'counts'>, suspects: number | undefined) {
  const { read, accepted, duplicates, filtered, rejected, delivered, pending, refused } = run.counts;
  const { repeated, carried, posted, unanswered } = run.counts;
  const affected = countAffected(run);
  const counts: Readonly<Record<string, number | string>> = {
    ...{ read, accepted, duplicates, filtered, rejected, delivered, pending, refused, repeated },
    ...{ carried, posted },
    // Where nothing was sent, no answer is missing.
    unanswered: affected === '-' ? affected : (unanswered ?? affected),
    affected,
    suspects: suspects ?? 'not compared',
  };
  return Object.entries(counts)
    .map(([name, count]) => ({ name, count }))
    .filter(({ name, count }) => count !== 0 || !rareCounts.includes(name));
}

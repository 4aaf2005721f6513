import type { Colour, Paint } from '../base/colours.js';
import { formatCount } from '../base/format.js';
import {
  type Counts,
  hasSentNothing,
  hasUnexpectedCount,
  isOdd,
  mayHaveResult,
  type Run,
  type RunState,
} from './run.js';

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

/** Colours the state of a run. Green is only for a run whose verdicts are all known, with as many bookings as usual. (Design 11.) */
export function paintState(paint: Paint, run: Run, text: string): string {
  if (run.state !== 'succeeded') return paint(colours[run.state], text);
  return hasUnknownVerdicts(run.counts) || isOdd(run) || hasUnexpectedCount(run)
    ? text
    : paint('green', text);
}

/** Of bookings that are no part of the file. */
export function describeByBody(run: Run): string {
  if (hasSentNothing(run)) return 'would go by body';
  return run.counts.delivered === 0 ? 'go by body' : 'went by body';
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

export function formatKnown(count: number | Unknown): string {
  return typeof count === 'number' ? formatCount(count) : count;
}

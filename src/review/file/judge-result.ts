import type { Judged, JudgedPlaces, ResultCounts } from '../../ledger/findings.js';
import { isMoreThanShare } from '../gates.js';
import type { JoinSources, Judgement, ResultTotals } from './match-result.js';
import { namesBookings, type ResultTable } from './result.js';
import { forEachLine } from './result-keys.js';

/** The rules that decide whether a result is complete, and whether it suffices: all are settings. */
export interface ResultRules {
  /** What the result names: every row of the file, or those with an incorrect mapping. */
  readonly resultNames: 'all' | 'incorrect';
  /** The share of the file's bookings that may stay without a verdict. */
  readonly maxUnansweredShare: number;
}

export interface ResultMoment {
  /** It has not changed for `resultQuietSeconds`. */
  readonly isQuiet: boolean;
  /** It is no longer waited for. */
  readonly isDue: boolean;
  /** An earlier file of that name belonged to somebody else: at each look a growing one would be set aside again. */
  readonly wasSetAside?: boolean;
}

type ResultDecision =
  /** More of it must follow. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'accept'; readonly isComplete: boolean }
  /** It has arrived and does not suffice; the code is that of the run's failure. */
  | { readonly kind: 'refuse'; readonly code: 'result-incomplete' | 'result-unreadable' };

/** Whether all that was written so far can be judged: no line is cut off. */
export function isSettled(totals: ResultTotals, { isQuiet, wasSetAside = false }: ResultMoment): boolean {
  return isQuiet || (totals.end.isWhole && !(wasSetAside && isForeign(totals)));
}

/** How many of its rows are about bookings that were sent. */
export function countOurs({ end, unidentified, foreign }: ResultTotals): number {
  return end.rows - end.malformed - unidentified - foreign;
}

/**
 * Whether a result belongs to another file: more of its rows name other bookings than ours. A few rows too many are no
 * reason to throw verdicts away.
 */
export function isForeign(totals: ResultTotals): boolean {
  return totals.foreign > countOurs(totals);
}

/**
 * Whether nothing more can follow. A result that names incorrect rows only has no known length: it must be unchanged
 * for long enough, and each of its rows must name a booking of ours, because any other row may be about one that would
 * count as correct. Totals and repeated headers are about none.
 */
export function isComplete(
  totals: ResultTotals,
  moment: ResultMoment,
  { resultNames }: ResultRules,
): boolean {
  if (isForeign(totals)) return false;
  if (totals.unanswered === 0) return isSettled(totals, moment);
  if (resultNames === 'all') return false;
  const { end, unidentified, foreign, summaries } = totals;
  const unnamed = end.malformed + unidentified - summaries + foreign;
  return moment.isQuiet && end.isWhole && namesBookings(totals) && unnamed === 0;
}

const judgements = ['incorrect', 'not-in-result', 'unclear'] as const satisfies readonly Judged[];

/**
 * The bookings of each batch whose mapping the result does not call correct. Reads the sent bookings once more, unless there
 * are none.
 */
export async function* findJudged(
  { totals: { incorrect, unreadable, unanswered, loose }, judge }: Judgement,
  readSent: JoinSources['readSent'],
): AsyncGenerator<JudgedPlaces, void, undefined> {
  if (incorrect + unreadable + unanswered + loose === 0) return;
  for await (const { batch, lines } of readSent()) {
    const found: Record<Judged, number[]> = { incorrect: [], 'not-in-result': [], unclear: [] };
    forEachLine(lines, (start, place) => {
      const verdict = judge(lines, start);
      if (verdict !== 'correct') found[verdict].push(place);
    });
    for (const judged of judgements)
      if (found[judged].length > 0) yield { batch, judged, places: found[judged] };
  }
}

/** What the result says about each booking, as it is recorded. */
export async function listVerdicts(
  totals: ResultTotals,
  found: AsyncIterable<JudgedPlaces>,
  { resultNames }: ResultRules,
  completes: boolean,
): Promise<{ readonly verdicts: readonly JudgedPlaces[]; readonly counts: ResultCounts }> {
  const namesIncorrect = resultNames === 'incorrect';
  const verdicts: JudgedPlaces[] = [];
  const counts = { incorrect: 0, 'not-in-result': 0, unclear: 0 };
  for await (const places of found) {
    if (places.judged === 'not-in-result' && namesIncorrect && completes) continue;
    // Without a column of verdicts, being named is the verdict.
    const isVerdict = places.judged === 'unclear' && namesIncorrect && !totals.fields.includes('isCorrect');
    const judged: Judged = isVerdict ? 'incorrect' : places.judged;
    verdicts.push({ ...places, judged });
    counts[judged] += places.places.length;
  }
  const { incorrect: affected, 'not-in-result': unanswered, unclear } = counts;
  const { malformed } = totals.end;
  const ignored = totals.unidentified + totals.foreign;
  return { verdicts, counts: { affected, unanswered, unclear, malformed, ignored, listsUnanswered: true } };
}

/** Decides about a result that is ours: the one place that says what is good enough. */
export function decideOnResult(
  totals: ResultTotals,
  { unanswered, unclear }: Pick<ResultCounts, 'unanswered' | 'unclear'>,
  moment: ResultMoment,
  rules: ResultRules,
): ResultDecision {
  const completes = isComplete(totals, moment, rules);
  if (!completes && !moment.isDue) return { kind: 'wait' };
  if (completes && hasNoVerdict(totals, rules)) return { kind: 'refuse', code: 'result-unreadable' };
  return isMoreThanShare(unanswered + unclear, totals.sent, rules.maxUnansweredShare)
    ? { kind: 'refuse', code: isNoTable(totals) ? 'result-unreadable' : 'result-incomplete' }
    : { kind: 'accept', isComplete: completes };
}

/** Whether there are rows, none of them with a readable verdict. */
function hasNoVerdict(
  { fields, end, summaries, unreadable }: ResultTotals,
  { resultNames }: ResultRules,
): boolean {
  if (resultNames === 'incorrect' && !fields.includes('isCorrect')) return false;
  return end.rows > summaries && end.rows - end.malformed - summaries === unreadable;
}

/** Whether it has content that cannot be read as a table of bookings at all: another separator or encoding would help. */
export function isNoTable({ fields, columns, end }: ResultTable): boolean {
  if (!namesBookings({ fields })) return columns.length + end.rows > 0;
  return end.rows > 0 && end.malformed === end.rows;
}

const firstLook = 500;

/** The pause before the next look: half of the time since the call, so that looks back off by one half each. */
export function pauseBeforeLook(sinceCallMs: number, longestMs: number): number {
  return Math.min(longestMs, Math.max(firstLook, sinceCallMs / 2));
}

const mostColumns = 20;
const longestName = 40;

/** The names of a result's columns, to be shown to a person who has to find the one with the verdicts. */
export function listColumns(columns: readonly string[]): readonly string[] {
  const shown = columns
    .slice(0, mostColumns)
    .map((name) => name.replace(/\p{C}/gu, '').slice(0, longestName));
  return columns.length > mostColumns ? [...shown, `and ${columns.length - mostColumns} more`] : shown;
}

import type { Judged, ResultCounts, ReviewFile } from '../../rules/review-file.js';
import { isMoreThanShare } from '../../rules/share.js';
import type { ResultTotals } from './join-result.js';
import { namesBookings, type ResultTable, resultFields } from './result.js';
import type { RecordedVerdicts, VerdictState } from './verdict-state.js';

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

/** A look at a result, as far as time is concerned. */
interface LookTime {
  /** When the server said what is there. */
  readonly now: number;
  /** It began after the deadline. */
  readonly isDue: boolean;
  readonly deadline: number;
  /** `resultQuietSeconds`. */
  readonly quietMs: number;
  /** Of the run, as this attempt claimed it. */
  readonly token: number;
  /** What the last look saw. */
  readonly growing?: ReviewFile['growing'] | undefined;
}

/** @param since since when the result is as this look saw it */
export function nameMoment(
  { now, isDue, deadline, quietMs, token, growing }: LookTime,
  since: number,
): ResultMoment {
  const isQuiet = now - since >= quietMs;
  const isSeenInTime = growing?.token === token && growing.since < deadline;
  // What is first seen after its time is given the time to become whole, too.
  return { isQuiet, isDue: isDue && (isSeenInTime || isQuiet) };
}

/**
 * Whether reading a result that looks as it did at the last look can change nothing yet. Whoever takes the run over reads
 * it once more: a setting may have been changed.
 */
export function needsNoReading(look: LookTime): boolean {
  const { growing, token } = look;
  if (growing?.token !== token) return false;
  const { isQuiet, isDue } = nameMoment(look, growing.since);
  return !isDue && (!isQuiet || growing.isRead === true);
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
  return moment.isQuiet && end.isWhole && namesBookings(totals.fields) && unnamed === 0;
}

/** The files of one result, the newest first, as if they were one. @param unanswered bookings that none of them names */
export function joinTotals(files: readonly ResultTotals[], unanswered: number): ResultTotals {
  const [newest] = files;
  const sum = (count: (file: ResultTotals) => number) =>
    files.reduce((total, file) => total + count(file), 0);
  return {
    fields: resultFields.filter((field) => files.some(({ fields }) => fields.includes(field))),
    columns: files.flatMap(({ columns }) => columns),
    ambiguous: files.flatMap(({ ambiguous }) => ambiguous),
    form: newest?.form,
    end: {
      rows: sum(({ end }) => end.rows),
      malformed: sum(({ end }) => end.malformed),
      isWhole: files.every(({ end }) => end.isWhole),
    },
    sent: newest?.sent ?? 0,
    unanswered,
    foreign: sum(({ foreign }) => foreign),
    unidentified: sum(({ unidentified }) => unidentified),
    summaries: sum(({ summaries }) => summaries),
    judging: sum(({ judging }) => judging),
  };
}

/** What is known about each booking, as it is recorded. */
export function listVerdicts(
  totals: ResultTotals,
  state: VerdictState,
  { resultNames }: ResultRules,
  completes: boolean,
): RecordedVerdicts & { readonly counts: ResultCounts } {
  const { verdicts, sources } = state.end();
  // Whatever a complete result of that kind does not name is correct.
  const isSilenceCorrect = resultNames === 'incorrect' && completes;
  const recorded = {
    verdicts: verdicts.filter(({ judged }) => !(isSilenceCorrect && judged === 'not-in-result')),
    sources,
  };
  const { malformed } = totals.end;
  const ignored = totals.unidentified + totals.foreign;
  return { ...recorded, counts: { ...countJudged(recorded), malformed, ignored, listsUnanswered: true } };
}

/** What is left of verdicts of which nothing but "incorrect" counts any more: nothing is known about the other bookings. */
export function keepIncorrect(
  recorded: RecordedVerdicts,
  sent: number,
): RecordedVerdicts & { readonly counts: ResultCounts } {
  const { affected } = countJudged(recorded);
  return { ...recorded, counts: { affected, unanswered: sent - affected, unclear: 0, malformed: 0 } };
}

function countJudged({ verdicts }: RecordedVerdicts) {
  const count = (kind: Judged) =>
    verdicts.reduce((sum, { judged, rows }) => sum + (judged === kind ? rows.length : 0), 0);
  return { affected: count('incorrect'), unanswered: count('not-in-result'), unclear: count('unclear') };
}

/** Decides about a result that is ours: the one place that says what is good enough. */
export function decideOnResult(
  totals: ResultTotals,
  { unanswered, unclear }: { readonly unanswered: number; readonly unclear: number },
  moment: ResultMoment,
  rules: ResultRules,
): ResultDecision {
  const completes = isComplete(totals, moment, rules);
  const isAmbiguous = totals.ambiguous.length > 0;
  // Nobody knows which bookings it is about, and so whether more must follow.
  const isOver = completes || moment.isDue || (isAmbiguous && moment.isQuiet);
  if (!isOver) return { kind: 'wait' };
  if (isAmbiguous) return { kind: 'refuse', code: 'result-unreadable' };
  if (completes && hasNoVerdict(totals)) return { kind: 'refuse', code: 'result-unreadable' };
  return isMoreThanShare(unanswered + unclear, totals.sent, rules.maxUnansweredShare)
    ? { kind: 'refuse', code: isNoTable(totals) ? 'result-unreadable' : 'result-incomplete' }
    : { kind: 'accept', isComplete: completes };
}

/** Whether there are rows, none of them with a readable verdict. */
function hasNoVerdict({ end, summaries, judging }: ResultTotals): boolean {
  return end.rows > summaries && judging === 0;
}

/** Whether it has content that cannot be read as a table of bookings at all: another separator or encoding would help. */
export function isNoTable({ fields, columns, end }: ResultTable): boolean {
  if (!namesBookings(fields)) return columns.length + end.rows > 0;
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

import { hasUnexpectedCount, isActive, type Run, type RunState, warnsOfVolume } from '../../ledger/run.js';
import type { Colour, Paint } from '../../text/colours.js';
import { formatCount } from '../../text/format.js';

/** What is known about the verdicts on a day's bookings. */
export interface DayVerdicts {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly knowledge: VerdictKnowledge;
  /**
   * The runs that together sent the day, newest first: the newest with a result and, if it only topped up, those before
   * it. Without any result: the newest that was not cancelled.
   */
  readonly runs: readonly Run[];
  /** The newest run of the day, where it started after those with a result and has none yet. */
  readonly newer?: Run;
  /** Bookings that results mark as incorrectly mapped; null where no result is known. */
  readonly affected: number | null;
  /** Bookings of files without a verdict; null where there is no file. */
  readonly unanswered: number | null;
  /** Bookings of a day by file that went by body: their verdicts come by e-mail only. */
  readonly posted: number;
}

/**
 * `judged`: there is a result. `awaiting-result`: a file was or will be sent, and no result is known. `by-email`: all
 * bookings went by body. `nothing-sent`: the day had no bookings.
 */
export type VerdictKnowledge = 'judged' | 'awaiting-result' | 'by-email' | 'nothing-sent' | 'no-run';

/** @param runs of the day, newest first */
export function summariseVerdicts(day: string, runs: readonly Run[]): DayVerdicts {
  const groups = groupRuns(runs);
  const judged = groups.findIndex((group) => group.some(isJudged));
  const usual = groups.findIndex(([run]) => run?.state !== 'cancelled');
  const group = groups[Math.max(0, judged === -1 ? usual : judged)] ?? [];
  const newer = judged > 0 ? groups[0]?.[0] : undefined;
  const isByFile = group.some(({ delivery }) => delivery === 'file');
  return {
    day,
    knowledge: knowledgeOf(group),
    runs: group,
    ...(newer && newer.state !== 'cancelled' && { newer }),
    affected: sumKnown(group.map(({ counts }) => counts.affected)),
    unanswered: sumKnown(group.map(({ counts }) => counts.unanswered)),
    posted: isByFile ? group.reduce((sum, run) => sum + countPosted(run), 0) : 0,
  };
}

/** Whether some bookings of the run have no verdict that this program knows: nothing about it may look good. */
export function hasUnknownVerdicts({ counts }: Pick<Run, 'counts'>): boolean {
  if (counts.accepted === 0) return false;
  return counts.affected === null || counts.unanswered !== 0 || counts.posted > 0;
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
  return hasUnknownVerdicts(run) || warnsOfVolume(run) || hasUnexpectedCount(run)
    ? text
    : paint('green', text);
}

/** Where no number is known, this says why. */
export type Unknown = 'by e-mail' | 'no result' | '-';

/** How many bookings of a run are affected, or why that is not known: never 0. */
export function countAffected(run: Pick<Run, 'delivery' | 'state' | 'counts'>): number | Unknown {
  const { affected, accepted, delivered } = run.counts;
  if (affected !== null) return affected;
  // Nothing was sent, and nothing will be unless somebody resumes it: no verdict can come.
  if (accepted === 0 || (delivered === 0 && !isActive(run))) return '-';
  return mayHaveResult(run) ? 'no result' : 'by e-mail';
}

/** A run and those that topped it up, newest first. */
function groupRuns(runs: readonly Run[]): Run[][] {
  const groups: Run[][] = [];
  let isOpen = false;
  for (const run of runs) {
    if (isOpen) groups.at(-1)?.push(run);
    else groups.push([run]);
    isOpen = run.topsUp === true;
  }
  return groups;
}

function isJudged({ file }: Run): boolean {
  return file?.verdicts !== undefined;
}

function knowledgeOf(group: readonly Run[]): VerdictKnowledge {
  if (group.length === 0) return 'no-run';
  if (group.some(isJudged)) return 'judged';
  if (group.every((run) => run.counts.accepted === 0 && !isActive(run) && run.state === 'succeeded'))
    return 'nothing-sent';
  return group.some(mayHaveResult) ? 'awaiting-result' : 'by-email';
}

/** False for a run by body, and for one by file whose bookings all go by body. */
export function mayHaveResult({ delivery, counts }: Pick<Run, 'delivery' | 'counts'>): boolean {
  return delivery === 'file' && (counts.accepted === 0 || counts.posted < counts.accepted);
}

function countPosted({ delivery, counts }: Run): number {
  return delivery === 'file' ? counts.posted : counts.accepted;
}

/** The sum of the known ones; null if none is known. */
export function sumKnown(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null);
  return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
}

export function formatKnown(count: number | Unknown): string {
  return typeof count === 'number' ? formatCount(count) : count;
}

import { addTo } from '../base/group.js';
import type { BatchStream } from '../booking/sending.js';
import type { Judged } from './review-file.js';
import { type Counts, hasSentNothing, mayHaveResult, type Run } from './run.js';

/**
 * What a booking counts as in its day, where its own run says something else: `uncounted`, because a newer run holds it too, or
 * because it is superseded or will never be sent; or the verdict of another run.
 */
export type DayStanding = 'uncounted' | 'correct' | Judged;

/** The bookings that count for a day, in numbers; null stands for unknown. */
export interface DayCounts {
  readonly accepted: number;
  readonly delivered: number;
  readonly refused: number;
  readonly pending: number;
  /** Of a day by file: bookings that went by body, and about which no result says anything. */
  readonly posted: number;
  /** Bookings that a result calls incorrect; null where no result is known. */
  readonly affected: number | null;
  /** Bookings of files without a verdict; null where there is no file. */
  readonly unanswered: number | null;
  /** Bookings that the local copy of the mappings flags; null where none was compared with it. */
  readonly suspects: number | null;
  /** The runs that hold these bookings, or whose verdict counts for one: their ids, newest first. */
  readonly senders: readonly string[];
}

/** Bookings of one stored batch that count as the same. */
export interface StandingRows extends BatchRows {
  readonly standing: DayStanding;
}

/** Some bookings of a stored batch. */
export interface BatchRows {
  readonly runId: string;
  readonly stream: BatchStream;
  readonly batch: number;
  /** Ascending. */
  readonly rows: readonly number[];
}

export interface StoredOutcome {
  /** YYYY-MM-DD */
  readonly day: string;
  /** Changes whenever something changes that the counts depend on; what a run delivers counts once it is over. */
  readonly mark: string;
  /** The bookings of all its runs were removed. */
  readonly isPruned: boolean;
  /** Whether a collect of the day, even one that found nothing new, called bookings of other runs superseded. */
  readonly hasSuperseded: boolean;
  /** As it was stored; absent if it never was. */
  readonly stored?: { readonly mark: string; readonly counts: DayCounts };
}

/** What a day came to, over all its runs: the one answer, whoever asks. */
export interface DayOutcome extends DayCounts {
  /** YYYY-MM-DD */
  readonly day: string;
  /**
   * `judged`: there is a result. `awaiting-result`: a file was or will be sent, and no result is known. `by-email`: all bookings went by
   * body. `nothing-sent`: the service took none, and nobody is sending any.
   */
  readonly knowledge: 'judged' | 'awaiting-result' | 'by-email' | 'nothing-sent' | 'no-run';
  /**
   * The run that an answer about the day names: the newest with a result, or one that topped it up; without any result the
   * latest.
   */
  readonly run?: Run;
  /**
   * The runs that together sent the day, newest first: those of its bookings and verdicts, and those that topped them up with nothing
   * new; without any, the latest.
   */
  readonly runs: readonly Run[];
  /** The newest run that was not cancelled; the newest if all were. */
  readonly latest?: Run;
  /** The newest run of the day, where it started after those with a result and has none yet. */
  readonly newer?: Run;
}

/** A run, and what its bookings count as in their day. */
export interface SentRun {
  readonly run: Run;
  readonly standings: ReturnType<typeof createStandings>;
}

/** An outcome, and where its bookings are stored. */
export interface DayBookings extends DayOutcome {
  /** The same runs. */
  readonly sent: readonly SentRun[];
}

/** What was pruned can't be counted again: its day keeps what it came to. */
export function isCurrent({ mark, isPruned, stored }: StoredOutcome): boolean {
  return stored !== undefined && (isPruned || stored.mark === mark);
}

/** Whether any of its day's bookings are its own: a run that tops a day up may find nothing new. */
export function holdsBookings({ collectedAt, counts }: Run): boolean {
  return collectedAt !== undefined && counts.accepted + counts.carried > 0;
}

/** Alone, such a run says what its day came to. */
export function isUsual({ state, counts }: Run): boolean {
  return counts.carried === 0 && (state !== 'cancelled' || counts.pending === 0);
}

/** @param only the run that holds all bookings; undefined if none does */
export function countsOfRun(only: Run | undefined, runs: readonly Run[]): DayCounts {
  const counts: Partial<Counts> = only?.counts ?? {};
  const { accepted = 0, delivered = 0, refused = 0, pending = 0 } = counts;
  return {
    ...{ accepted, delivered, refused, pending },
    posted: only?.delivery === 'file' ? only.counts.posted : 0,
    affected: counts.affected ?? null,
    unanswered: counts.unanswered ?? null,
    suspects: (only ?? runs.find(({ suspects }) => suspects !== undefined))?.suspects ?? null,
    senders: only ? [only.id] : [],
  };
}

export function toBookings(
  day: string,
  runs: readonly Run[],
  counts: DayCounts,
  rows: readonly StandingRows[],
): DayBookings {
  const outcome = summariseDay(day, runs, counts);
  return {
    ...outcome,
    sent: outcome.runs.map((run) => ({
      run,
      standings: createStandings(rows.filter(({ runId }) => runId === run.id)),
    })),
  };
}

/** What a day without a run came to. */
export function withoutRun(day: string): DayBookings {
  return toBookings(day, [], countsOfRun(undefined, []), []);
}

/** What the day of a run would have come to without its other runs. */
export function outcomeOfRun(run: Run): DayOutcome {
  return summariseDay(run.day, [run], countsOfRun(holdsBookings(run) ? run : undefined, [run]));
}

/** The bookings of a day in numbers, over all its runs. */
export function outcomeToJson(outcome: DayOutcome) {
  const { accepted, delivered, refused, pending, posted, affected, unanswered } = outcome;
  return { accepted, delivered, refused, pending, posted, affected, unanswered };
}

/** A run by itself, whatever else its day has. */
export function alone(run: Run): SentRun {
  return { run, standings: createStandings([]) };
}

/** What bookings of a run count as, where the run itself says something else. */
function createStandings(rows: readonly StandingRows[]) {
  const byBatch = new Map<string, StandingRows[]>();
  for (const of of rows) addTo(byBatch, `${of.stream} ${of.batch}`, of);
  return {
    /** Of a batch, by row. */
    find: (stream: BatchStream, batch: number): ReadonlyMap<number, DayStanding> =>
      new Map(
        (byBatch.get(`${stream} ${batch}`) ?? []).flatMap((of) =>
          of.rows.map((row) => [row, of.standing] as const),
        ),
      ),
    /** All that count as this. */
    list: (standing: DayStanding) => rows.filter((of) => of.standing === standing),
  };
}

/** @param runs of the day, newest first */
export function summariseDay(day: string, runs: readonly Run[], counts: DayCounts): DayOutcome {
  const senders = new Set(counts.senders);
  const oldest = runs.findLastIndex(({ id }) => senders.has(id));
  const sent = runs.filter(
    ({ id, topsUp, state }, index) => senders.has(id) || (topsUp && state !== 'cancelled' && index < oldest),
  );
  const latest = runs.find(({ state }) => state !== 'cancelled') ?? runs[0];
  const judged = findJudged(runs);
  const run = judged ?? latest;
  const isOlder = judged !== undefined && judged !== runs[0] && runs[0]?.state !== 'cancelled';
  return {
    ...counts,
    day,
    knowledge: findKnowledge(counts, sent, latest),
    runs: sent.length > 0 || !latest ? sent : [latest],
    ...(run && { run }),
    ...(latest && { latest }),
    ...(isOlder && runs[0] && { newer: runs[0] }),
  };
}

/** The newest run with a result, or the newest of those that topped it up. */
function findJudged(runs: readonly Run[]): Run | undefined {
  let newest: Run | undefined;
  for (const run of runs) {
    newest ??= run;
    if (hasVerdicts(run)) return newest;
    if (!run.topsUp) newest = undefined;
  }
  return undefined;
}

function findKnowledge(
  { affected }: DayCounts,
  sent: readonly Run[],
  latest: Run | undefined,
): DayOutcome['knowledge'] {
  if (!latest) return 'no-run';
  if (affected !== null) return 'judged';
  if ([...sent, latest].every(hasSentNothing)) return 'nothing-sent';
  return (sent.length > 0 ? sent : [latest]).some(mayHaveResult) ? 'awaiting-result' : 'by-email';
}

/** Whether its source had no bookings: there is nothing to know. */
export function isEmptyDay({ accepted, latest }: DayOutcome): boolean {
  return accepted === 0 && latest?.state === 'succeeded';
}

/** What a result said so far is recorded; it may still grow. */
export function hasVerdicts({ file }: Run): boolean {
  return file?.verdicts !== undefined;
}

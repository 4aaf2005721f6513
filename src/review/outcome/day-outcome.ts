import { formatCount } from '../../base/format.js';
import type { BookingForm } from '../../booking/line-form.js';
import type { DayCounts, DayStanding, StandingPlaces, StoredOutcome } from '../../ledger/day-outcomes.js';
import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import { type Counts, hasSentNothing, mayCompleteDay, mayHaveResult, type Run } from '../../rules/run.js';
import { KeyError } from '../../storage/day-keys.js';
import { walkDay } from './day-walk.js';
import { toWalkedRun } from './stored-entries.js';

/** What a day came to, over all its runs: the one answer, whoever asks. */
export interface DayOutcome extends DayCounts {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly knowledge: VerdictKnowledge;
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

/**
 * `judged`: there is a result. `awaiting-result`: a file was or will be sent, and no result is known. `by-email`: all
 * bookings went by body. `nothing-sent`: the service took none, and nobody is sending any: see `describeNothingSent`.
 */
export type VerdictKnowledge = 'judged' | 'awaiting-result' | 'by-email' | 'nothing-sent' | 'no-run';

/** A run, and what its bookings count as in their day. */
export interface SentRun {
  readonly run: Run;
  readonly standings: Standings;
}

/** What bookings of a run count as, where the run itself says something else. */
export interface Standings {
  /** Of a batch, by place. */
  find(form: BookingForm, batch: number): ReadonlyMap<number, DayStanding>;
  /** All that count as this. */
  list(standing: DayStanding): readonly StandingPlaces[];
}

/** An outcome, and where its bookings are stored. */
export interface DayBookings extends DayOutcome {
  /** The same runs. */
  readonly sent: readonly SentRun[];
}

/** More runs than any day has. */
export const runsOfDay = 1_000;

export async function readDayOutcome(ledger: ReadOnlyLedger, day: string): Promise<DayBookings> {
  return judgeRuns(ledger, day, await ledger.runs.list({ day, limit: runsOfDay }));
}

/** The same, for who knows the runs of the day, newest first. */
export async function judgeRuns(
  ledger: ReadOnlyLedger,
  day: string,
  runs: readonly Run[],
): Promise<DayBookings> {
  const holders = runs.filter(holdsBookings);
  const [only] = holders;
  const isAlone = holders.length === 1 && only !== undefined && isUsual(only);
  if (!only || (isAlone && runs.length === 1)) return toBookings(day, runs, countRun(only, runs), []);
  const [known] = await ledger.days.listOutcomes({ from: day, to: day });
  if (isAlone && !known?.hasSuperseded) return toBookings(day, runs, countRun(only, runs), []);
  if (known?.stored && isCurrent(known))
    return toBookings(day, runs, known.stored.counts, await ledger.days.listStandings(day));
  const { counts, places } = await computeOrRecall(ledger, holders, known);
  return toBookings(day, runs, counts, places);
}

/**
 * What days came to, from a row for each: only a day that changed since its row was stored is looked at again.
 *
 * @param runs of these days, by day, newest first
 */
export async function readDayOutcomes(
  ledger: ReadOnlyLedger,
  period: { readonly from: string; readonly to: string },
  runs: ReadonlyMap<string, readonly Run[]>,
): Promise<ReadonlyMap<string, DayOutcome>> {
  const known = new Map((await ledger.days.listOutcomes(period)).map((one) => [one.day, one]));
  const outcomes = new Map<string, DayOutcome>();
  for (const [day, ofDay] of runs) {
    const one = known.get(day);
    const [only, ...others] = ofDay;
    // The runs of today may be combined in one.
    if (only && others.length === 0 && mayCompleteDay(only) && isUsual(only))
      outcomes.set(day, outcomeOfRun(only));
    else if (!one) outcomes.set(day, summariseDay(day, ofDay, countRun(undefined, ofDay)));
    else if (one.stored && isCurrent(one)) outcomes.set(day, summariseDay(day, ofDay, one.stored.counts));
    else outcomes.set(day, await readDayOutcome(ledger, day));
  }
  return outcomes;
}

/**
 * Stores what a day came to, if its runs changed since, and returns it. Call it whenever one ends, or verdicts are recorded.
 * Undefined for a day without bookings, or whose bookings can't be read any more.
 */
export async function storeDayOutcome(ledger: Ledger, day: string): Promise<DayCounts | undefined> {
  const [known] = await ledger.days.listOutcomes({ from: day, to: day });
  if (!known) return undefined;
  if (isCurrent(known)) return known.stored?.counts;
  const runs = await ledger.runs.list({ day, limit: runsOfDay });
  const holders = runs.filter(holdsBookings);
  const [only] = holders;
  const found =
    only && holders.length === 1 && isUsual(only) && !known.hasSuperseded
      ? { counts: countRun(only, runs), places: [] }
      : await compute(ledger, holders);
  if (found) await ledger.days.storeOutcome({ day, mark: known.mark, ...found });
  return found?.counts;
}

/** What was pruned can't be counted again: its day keeps what it came to. */
function isCurrent({ mark, isPruned, stored }: StoredOutcome): boolean {
  return stored !== undefined && (isPruned || stored.mark === mark);
}

/** Whether any of its day's bookings are its own: a run that tops a day up may find nothing new. */
export function holdsBookings({ collectedAt, counts }: Run): boolean {
  return collectedAt !== undefined && counts.accepted + counts.carried > 0;
}

/** Alone, such a run says what its day came to. */
function isUsual({ state, counts }: Run): boolean {
  return counts.carried === 0 && (state !== 'cancelled' || counts.pending === 0);
}

/** @param only the run that holds all bookings; undefined if none does */
function countRun(only: Run | undefined, runs: readonly Run[]): DayCounts {
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

/** Without the keys of its lines, a day is what it was when it was last counted, or what its latest run says. */
async function computeOrRecall(
  ledger: ReadOnlyLedger,
  holders: readonly Run[],
  known: StoredOutcome | undefined,
): Promise<{ readonly counts: DayCounts; readonly places: readonly StandingPlaces[] }> {
  const computed = await compute(ledger, holders);
  if (computed) return computed;
  return { counts: known?.stored?.counts ?? countRun(holders[0], holders), places: [] };
}

/** Undefined if the lines can't be read, because the key of their day is gone. */
async function compute(ledger: ReadOnlyLedger, holders: readonly Run[]) {
  try {
    const { counts, contributing, places } = await walkDay(holders.map((run) => toWalkedRun(ledger, run)));
    const { delivered, refused, pending, incorrect, unansweredInFile, byBody, suspects } = counts;
    const senders = holders.filter(({ id }) => contributing.has(id));
    return {
      places,
      counts: {
        accepted: delivered + refused + pending,
        ...{ delivered, refused, pending },
        posted: senders.some(({ delivery }) => delivery === 'file') ? byBody : 0,
        affected: senders.some(isJudged) ? incorrect : null,
        unanswered: senders.some(({ file }) => file?.rows !== undefined) ? unansweredInFile : null,
        suspects: senders.some((run) => run.suspects !== undefined) ? suspects : null,
        senders: senders.map(({ id }) => id),
      },
    };
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    return undefined;
  }
}

function toBookings(
  day: string,
  runs: readonly Run[],
  counts: DayCounts,
  places: readonly StandingPlaces[],
): DayBookings {
  const outcome = summariseDay(day, runs, counts);
  return {
    ...outcome,
    sent: outcome.runs.map((run) => ({
      run,
      standings: createStandings(places.filter(({ runId }) => runId === run.id)),
    })),
  };
}

/** What a day without a run came to. */
export function withoutRun(day: string): DayBookings {
  return toBookings(day, [], countRun(undefined, []), []);
}

/** What the day of a run would have come to without its other runs. */
export function outcomeOfRun(run: Run): DayOutcome {
  return summariseDay(run.day, [run], countRun(holdsBookings(run) ? run : undefined, [run]));
}

/** The bookings of a day in numbers, over all its runs. */
export function outcomeToJson({
  accepted,
  delivered,
  refused,
  pending,
  posted,
  affected,
  unanswered,
}: DayOutcome) {
  return { accepted, delivered, refused, pending, posted, affected, unanswered };
}

/** A run by itself, whatever else its day has. */
export function alone(run: Run): SentRun {
  return { run, standings: createStandings([]) };
}

function createStandings(places: readonly StandingPlaces[]): Standings {
  const byBatch = new Map<string, StandingPlaces[]>();
  for (const of of places) {
    const key = `${of.form} ${of.batch}`;
    byBatch.set(key, [...(byBatch.get(key) ?? []), of]);
  }
  return {
    find: (form, batch) =>
      new Map(
        (byBatch.get(`${form} ${batch}`) ?? []).flatMap((of) =>
          of.places.map((place) => [place, of.standing] as const),
        ),
      ),
    list: (standing) => places.filter((of) => of.standing === standing),
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
    if (isJudged(run)) return newest;
    if (!run.topsUp) newest = undefined;
  }
  return undefined;
}

function findKnowledge(
  { affected }: DayCounts,
  sent: readonly Run[],
  latest: Run | undefined,
): VerdictKnowledge {
  if (!latest) return 'no-run';
  if (affected !== null) return 'judged';
  if ([...sent, latest].every(hasSentNothing)) return 'nothing-sent';
  return (sent.length > 0 ? sent : [latest]).some(mayHaveResult) ? 'awaiting-result' : 'by-email';
}

/** Whether its source had no bookings: there is nothing to know. */
export function isEmptyDay({ accepted, latest }: Pick<DayOutcome, 'accepted' | 'latest'>): boolean {
  return accepted === 0 && latest?.state === 'succeeded';
}

/** Why the service took nothing of a day; undefined for any other. */
export function describeNothingSent(outcome: DayOutcome): string | undefined {
  const { day, knowledge, latest, refused } = outcome;
  if (knowledge !== 'nothing-sent' || !latest) return undefined;
  const { id, state } = latest;
  if (isEmptyDay(outcome))
    return `${day}: nothing was sent for review, as there were no bookings (run ${id}).`;
  if (refused > 0)
    return `${day}: the service took no booking, and refused ${formatCount(refused)} (run ${id}, ${state}).`;
  return `${day}: nothing was sent for review: run ${id} ${state === 'cancelled' ? 'was cancelled' : 'failed'} before the service took a booking.`;
}

function isJudged({ file }: Run): boolean {
  return file?.verdicts !== undefined;
}

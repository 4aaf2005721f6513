import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import type { DayCounts, StoredOutcome } from '../../rules/day-outcome.js';
import {
  countsOfRun,
  type DayBookings,
  type DayOutcome,
  hasVerdicts,
  holdsBookings,
  isCurrent,
  isUsual,
  outcomeOfRun,
  summariseDay,
  toBookings,
} from '../../rules/day-outcome.js';
import { mayCompleteDay, type Run } from '../../rules/run.js';
import { KeyError } from '../../storage/day-keys.js';
import { listRunsOfDay } from '../every-run.js';
import { countBookings } from './count-bookings.js';
import { readEntries } from './stored-entries.js';

export async function readDayOutcome(ledger: ReadOnlyLedger, day: string): Promise<DayBookings> {
  return judgeRuns(ledger, day, await listRunsOfDay(ledger, day));
}

/** The same, for who knows the runs of the day, newest first. */
export async function judgeRuns(
  ledger: ReadOnlyLedger,
  day: string,
  runs: readonly Run[],
): Promise<DayBookings> {
  const holders = runs.filter(holdsBookings);
  const isAlone = holders.length === 0 || (runs.length === 1 && isOnlyRun(holders));
  const [known] = isAlone ? [] : await ledger.days.listOutcomes({ from: day, to: day });
  if (known?.stored && isCurrent(known) && !isOnlyRun(holders, known))
    return toBookings(day, runs, known.stored.counts, await ledger.days.listStandings(day));
  const counted = await countDay(ledger, runs, known);
  // Without the keys of its lines, a day is what it was when it was last counted, or what its latest run says.
  const counts = counted?.counts ?? known?.stored?.counts ?? countsOfRun(holders[0], holders);
  return toBookings(day, runs, counts, counted?.rows ?? []);
}

/** Whether the own counts of the run are those of the day: the only one with bookings, of which none were sent again. */
function isOnlyRun([run, ...others]: readonly Run[], known?: StoredOutcome): boolean {
  return run !== undefined && others.length === 0 && isUsual(run) && !known?.hasSuperseded;
}

/**
 * Counts a day in the cheapest way that is right: by its only run with bookings, or booking by booking. Undefined if the lines
 * can't be read, because the key of their day is gone.
 */
async function countDay(ledger: ReadOnlyLedger, runs: readonly Run[], known: StoredOutcome | undefined) {
  const holders = runs.filter(holdsBookings);
  if (holders.length === 0 || isOnlyRun(holders, known))
    return { counts: countsOfRun(holders[0], runs), rows: [] };
  try {
    const { counts, contributing, rows } = await countBookings(
      holders.map((run) => readEntries(ledger, run)),
    );
    const { delivered, refused, pending, incorrect, unansweredInFile, byBody, suspects } = counts;
    const senders = holders.filter(({ id }) => contributing.has(id));
    return {
      rows,
      counts: {
        accepted: delivered + refused + pending,
        ...{ delivered, refused, pending },
        posted: senders.some(({ delivery }) => delivery === 'file') ? byBody : 0,
        affected: senders.some(hasVerdicts) ? incorrect : null,
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
    else if (!one) outcomes.set(day, summariseDay(day, ofDay, countsOfRun(undefined, ofDay)));
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
  const runs = await listRunsOfDay(ledger, day);
  const found = await countDay(ledger, runs, known);
  if (found) await ledger.days.storeOutcome({ day, mark: known.mark, counts: found.counts }, found.rows);
  return found?.counts;
}

import { type BusinessDay, createBusinessDay, holdsInstants } from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { mayCompleteDay, type Run } from '../../rules/run.js';
import { daysToCompare, isWeekend } from '../../rules/volume.js';

/** Whether a day has no run that may complete it. One that a person cancelled is left alone. */
export function lacksRun(latest: Run | undefined): boolean {
  if (latest === undefined) return true;
  return latest.cancelReason === undefined && (latest.state === 'cancelled' || !mayCompleteDay(latest));
}

/** What the ledger knows of the days around the one that is judged. */
export interface KnownDays {
  /** The first day with a run. */
  readonly firstDay: string | undefined;
  /** The newest run of a day, YYYY-MM-DD. */
  readonly latestOf: (day: string) => Run | undefined;
}

/** How many days back people are told of a missing one. */
export const daysLookedBack = 14;
const weeksCompared = 4;

/**
 * Whether a day that is over should have a run and has none. An agency may be closed on a weekday: one without runs for four weeks is
 * missed by nobody. Until the ledger knows four weeks, this is assumed of Saturdays and Sundays only.
 */
export function isMissing(day: BusinessDay, { firstDay, latestOf }: KnownDays): boolean {
  if (firstDay === undefined || day.iso < firstDay || !holdsInstants(day)) return false;
  if (!lacksRun(latestOf(day.iso))) return false;
  const before = daysToCompare(day.iso)
    .filter((_, index) => index % 7 === 6)
    .slice(0, weeksCompared);
  if (before.some((one) => latestOf(one) !== undefined)) return true;
  return !isWeekend(day.iso) && before.some((one) => one < firstDay);
}

/** Days that follow each other, both ends included, YYYY-MM-DD. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/**
 * The missing ones of the last days up to one, oldest first, and as ranges: `replay --missing` of such a range reviews these days and no
 * other without a run, which may have no source.
 *
 * @param exempt days that nobody expects to be reviewed
 */
export function findMissingDays(
  { iso, zone }: BusinessDay,
  known: KnownDays,
  exempt: readonly string[] = [],
): { readonly days: readonly string[]; readonly ranges: readonly DayRange[] } {
  const days: string[] = [];
  const ranges: DayRange[] = [];
  let isGoingOn = false;
  const { firstDay = iso } = known;
  const last = daysToCompare(iso).slice(0, daysLookedBack - 1);
  for (const day of last.filter((one) => one >= firstDay).reverse()) {
    if (!lacksRun(known.latestOf(day))) continue;
    const from = isGoingOn ? ranges.at(-1)?.from : undefined;
    isGoingOn = isMissing(createBusinessDay(day, zone), known) && !exempt.includes(day);
    if (!isGoingOn) continue;
    days.push(day);
    if (from !== undefined) ranges.pop();
    ranges.push({ from: from ?? day, to: day });
  }
  return { days, ranges };
}

/** @param upTo the last day that is judged */
export async function readKnownDays(ledger: ReadOnlyLedger, upTo: BusinessDay) {
  const from = daysToCompare(upTo.iso)[daysLookedBack + 7 * weeksCompared - 1] ?? upTo.iso;
  const summary = await ledger.runs.summarise(upTo);
  const latest = new Map((await ledger.runs.listLatest({ from, to: upTo.iso })).map((run) => [run.day, run]));
  return { summary, firstDay: summary.firstDay, latestOf: (day: string) => latest.get(day) };
}

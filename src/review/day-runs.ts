import type { Run, Trigger } from './run.js';

/** Which runs count for the business day whose date they have. The ledgers' queries are made from the same lists. */

/** These send bookings of other days: they are not runs of the day on which they run. */
export const triggersOfOtherDays: readonly Trigger[] = ['watch'];

/** These make no day done or good: `today` sends what was booked so far. */
export const incompleteTriggers: readonly Trigger[] = ['today', ...triggersOfOtherDays];

/**
 * The key of the hold that is needed to work on a run (`DayHolds`). A run that sends bookings of other days shares
 * nothing with the runs of its day; all runs of its trigger exclude each other.
 */
export function holdKeyOf({ day, trigger }: Pick<Run, 'day' | 'trigger'>): string {
  return triggersOfOtherDays.includes(trigger) ? trigger : day;
}

/** Whether it reviewed bookings of its day. */
export function isOfItsDay({ trigger }: Pick<Run, 'trigger'>): boolean {
  return !triggersOfOtherDays.includes(trigger);
}

/** Whether its day can be complete once it has succeeded. */
export function mayCompleteDay({ trigger }: Pick<Run, 'trigger'>): boolean {
  return !incompleteTriggers.includes(trigger);
}

/** Runs by the day whose date they have, in their order. */
export function groupByDay(runs: readonly Run[]): Map<string, Run[]> {
  const days = new Map<string, Run[]>();
  for (const run of runs) {
    const known = days.get(run.day);
    if (known) known.push(run);
    else days.set(run.day, [run]);
  }
  return days;
}

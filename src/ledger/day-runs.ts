import type { Run, Trigger } from './run.js';

/** Only these make a day done or good: `today` sends what was booked so far. The ledgers' queries are made from this list. */
export const completingTriggers: readonly Trigger[] = ['schedule', 'hook', 'manual', 'replay'];

/** Whether its day can be complete once it has succeeded. */
export function mayCompleteDay({ trigger }: Pick<Run, 'trigger'>): boolean {
  return completingTriggers.includes(trigger);
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

import type { BusinessDay } from '../../booking/business-day.js';

export interface DaysAtOnce {
  readonly atOnce: number;
  /** Whether a day is to be begun at all; asked right before. False ends the rest as well. */
  readonly mayBegin: () => boolean;
  /** Waits for what a day needs before it is begun, then begins it; undefined when it is not to be begun. */
  readonly begin: (day: BusinessDay) => Promise<{ readonly ended: Promise<void> } | undefined>;
}

/**
 * Works on days, begun in their order, so many of them at the same time.
 *
 * @returns the days that were not begun
 * @throws what the work on a day breaks off with, when the others have ended
 */
export async function workOnDays(
  days: readonly BusinessDay[],
  { atOnce, mayBegin, begin }: DaysAtOnce,
): Promise<readonly BusinessDay[]> {
  const working = new Set<Promise<void>>();
  let fault: { error: unknown } | undefined;
  let begun = 0;
  try {
    for (const day of days) {
      if (working.size >= atOnce) await Promise.race(working);
      const work = fault || !mayBegin() ? undefined : await begin(day);
      if (!work) break;
      begun += 1;
      const ended: Promise<void> = work.ended
        .catch((error: unknown) => {
          fault ??= { error };
        })
        .then(() => {
          working.delete(ended);
        });
      working.add(ended);
    }
  } finally {
    await Promise.all(working);
  }
  if (fault) throw fault.error;
  return days.slice(begun);
}

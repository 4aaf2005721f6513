import { pause } from '../../async/abort.js';
import type { Hold } from '../../async/hold.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { PlaceHolds } from '../ledger.js';

/** Between two tries for a place. */
const tryEveryMs = 1_000;

/**
 * Waits for one of so many places for runs at the same time, which all processes on one ledger share.
 *
 * @param onWait is called once, when all of them are taken
 * @returns undefined when a stop was asked for
 */
export async function waitForRunSlot(
  ledger: PlaceHolds,
  places: number,
  { signal, onWait }: { readonly signal: AbortSignal; readonly onWait: () => void },
): Promise<Hold | undefined> {
  for (let isReported = false; !signal.aborted; isReported = true) {
    const hold = await ledger.holdPlace(places);
    if (hold) return hold;
    if (!isReported) onWait();
    await pause(tryEveryMs, signal);
  }
  return undefined;
}

export interface ConcurrentDays {
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
export async function runDaysConcurrently(
  days: readonly BusinessDay[],
  { atOnce, mayBegin, begin }: ConcurrentDays,
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

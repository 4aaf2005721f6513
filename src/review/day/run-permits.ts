import { type Hold, pause } from '../../base/abort.js';
import type { Ledger } from '../../ledger/ledger.js';

/** Days of replayed ranges that are reviewed at once, over all processes: the nightly run must still find room. */
export const runsAtOnce = 2;
/** Delay between attempts to get a permit. */
const permitEveryMs = 1_000;

/**
 * Waits for one of a limited number of permits for runs that all processes on a ledger share.
 *
 * @param onWait called once if all permits are taken
 * @returns undefined when aborted
 */
export async function waitForRunPermit(
  ledger: Ledger,
  permits: number,
  { signal, onWait }: { readonly signal: AbortSignal; readonly onWait: () => void },
): Promise<Hold | undefined> {
  for (let isReported = false; !signal.aborted; isReported = true) {
    const hold = await ledger.holds.permit(permits);
    if (hold) return hold;
    if (!isReported) onWait();
    await pause(permitEveryMs, signal);
  }
  return undefined;
}

/**
 * Runs days concurrently, at most `atOnce` at a time, starting them in order.
 *
 * @returns the days that were not started
 * @throws the first error of a day, after all others have ended
 */
export async function runDaysConcurrently<Day>(
  days: readonly Day[],
  {
    atOnce,
    mayBegin,
    begin,
  }: {
    readonly atOnce: number;
    /** Called right before a day is started. False also skips all later days. */
    readonly mayBegin: () => boolean;
    /** Waits for what a day needs, then starts it; undefined if the day is not to be started. */
    readonly begin: (day: Day) => Promise<{ readonly ended: Promise<void> } | undefined>;
  },
): Promise<readonly Day[]> {
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

import { pause } from '../../async/abort.js';
import type { Hold, Ledger } from '../ledger.js';

/** Between two tries for a place. */
const tryEveryMs = 1_000;

/**
 * Waits for one of so many places for runs at the same time, which all processes on one ledger share.
 *
 * @param onWait is called once, when all of them are taken
 * @returns undefined when a stop was asked for
 */
export async function waitForPlace(
  ledger: Pick<Ledger, 'holdPlace'>,
  places: number,
  { signal, onWait }: { readonly signal: AbortSignal; readonly onWait: () => void },
): Promise<Hold | undefined> {
  for (let isTold = false; !signal.aborted; isTold = true) {
    const hold = await ledger.holdPlace(places);
    if (hold) return hold;
    if (!isTold) onWait();
    await pause(tryEveryMs, signal);
  }
  return undefined;
}

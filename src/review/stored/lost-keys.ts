import { KeyError } from '../../keys/key-error.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { bookingForms } from '../../ledger/step.js';
import { listEveryRun } from '../every-run.js';

/**
 * Why days whose key is missing can't be read, one reason each. Days that were stored before anything was encrypted
 * have no key either, so the first batch of each run without a key is tried.
 *
 * @param keyDays the days that have a key
 */
export async function findLostKeys(
  ledger: ReadOnlyLedger,
  keyDays: readonly string[],
): Promise<readonly string[]> {
  const known = new Set(keyDays);
  const reasons = new Set<string>();
  for (const { id, day, namesBlankedAt } of await listEveryRun(ledger)) {
    if (known.has(day) || namesBlankedAt !== undefined) continue;
    for (const form of bookingForms) {
      try {
        await ledger.bookings.readBatch(id, form, 0);
      } catch (error) {
        if (error instanceof KeyError && error.code === 'lost') reasons.add(error.message);
        else if (!(error instanceof RangeError)) throw error;
      }
    }
  }
  return [...reasons];
}

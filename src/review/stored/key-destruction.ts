import type { DayKeyRemoval } from '../../keys/day-keys.js';
import type { Ledger } from '../../ledger/ledger.js';
import { listEveryRun } from '../every-run.js';

export interface KeyDestructionParts {
  readonly ledger: Ledger;
  readonly keys: DayKeyRemoval;
}

/**
 * Destroys the keys of days before that one whose runs keep no names any more: what backups hold of them becomes
 * unreadable. Keys of days that the ledger does not know stay, because it may be the wrong ledger.
 */
export async function destroyKeys({ ledger, keys }: KeyDestructionParts, before: string): Promise<void> {
  for (const day of keys.listDays().filter((one) => one < before)) {
    const hold = await ledger.holds.day(day);
    if (!hold) continue;
    try {
      const runs = await listEveryRun(ledger, { day });
      const isDone = runs.length > 0 && runs.every(({ namesBlankedAt }) => namesBlankedAt !== undefined);
      if (isDone && !hold.lost.aborted) keys.destroy(day);
    } finally {
      await hold.release();
    }
  }
}

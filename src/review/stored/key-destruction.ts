import type { DayKeyRemoval } from '../../keys/day-keys.js';
import type { DayHolds, RunLister } from '../ledger.js';

export interface KeyDestructionParts {
  readonly ledger: RunLister & Pick<DayHolds, 'holdDay'>;
  readonly keys: DayKeyRemoval;
}

/** More runs than a day ever has. */
const everyRun = 100_000;

/**
 * Destroys the keys of days before that one whose runs keep no names any more: what backups hold of them becomes
 * unreadable. Keys of days that the ledger does not know stay, because it may be the wrong ledger.
 */
export async function destroyKeys({ ledger, keys }: KeyDestructionParts, before: string): Promise<void> {
  for (const day of keys.listDays().filter((one) => one < before)) {
    const hold = await ledger.holdDay(day);
    if (!hold) continue;
    try {
      const runs = await ledger.listRuns({ day, limit: everyRun });
      const isDone = runs.length > 0 && runs.every(({ namesBlankedAt }) => namesBlankedAt !== undefined);
      if (isDone && !hold.lost.aborted) keys.destroy(day);
    } finally {
      await hold.release();
    }
  }
}

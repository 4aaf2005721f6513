import type { Ledger } from '../ledger/ledger.js';
import { SyncBusyError } from '../mappings/sync-mappings.js';
import { createScheduler, type Scheduler, type SchedulerParts } from './scheduler.js';

export interface SyncSchedulerParts extends SchedulerParts {
  readonly ledger: Ledger;
  /** It must end soon after the signal aborts. */
  readonly sync: (signal: AbortSignal) => Promise<unknown>;
  /** Compares what moved with the current and upcoming stays. It must end soon after the signal aborts. */
  readonly watch: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Keeps the local copy up to date: a sync is due when none has ended since the last slot. Failed syncs are resumed and missed
 * ones made up for. Of several processes one syncs; the others find it busy, and then done.
 *
 * It watches after each sync, and at the start, in case an earlier process was stopped in between.
 */
export function createSyncScheduler(parts: SyncSchedulerParts): Scheduler {
  const { ledger, slots, sync, watch, clock, notify } = parts;
  let isWatched = false;

  async function isDue(): Promise<boolean> {
    const slot = slots.last(new Date(clock()));
    if (!slot) return false;
    const latest = await ledger.mappings.latestSync();
    return latest?.endedAt === undefined || latest.endedAt < slot.getTime();
  }

  /** False if the copy is not up to date. */
  async function syncWhenDue(stop: AbortSignal): Promise<boolean> {
    try {
      if (!(await isDue())) return true;
      isWatched = false;
      await sync(stop);
      return true;
    } catch (error) {
      // Another process is doing what was due here.
      if (!stop.aborted && !(error instanceof SyncBusyError)) notify({ type: 'sync-failed', error });
      return false;
    }
  }

  return createScheduler(parts, async (stop) => {
    if (!(await syncWhenDue(stop)) || isWatched || stop.aborted) return;
    try {
      await watch(stop);
      isWatched = true;
    } catch (error) {
      if (!stop.aborted) notify({ type: 'watch-failed', error });
    }
  });
}

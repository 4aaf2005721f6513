import type { MappingCopy } from '../mappings/mapping-copy.js';
import { SyncBusyError } from '../mappings/sync-mappings.js';
import type { Schedule } from './schedule.js';
import type { Slots } from './slots.js';

export interface SyncKeeperParts {
  readonly copy: Pick<MappingCopy, 'latestSync'>;
  /** The provider family whose mappings are copied; empty for all of them. */
  readonly scope: string;
  readonly schedule: Schedule;
  readonly slots: Slots;
  /** Expected to end soon after the signal was aborted. */
  readonly sync: (signal: AbortSignal) => Promise<unknown>;
  /** How often it is looked whether a sync is owed. */
  readonly lookMs: number;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly onFailure: (error: unknown) => void;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

export interface SyncKeeper {
  /** Looks whether a sync is owed, and begins to watch. Called once. */
  start(): Promise<void>;
  /** Begins nothing more, aborts what is in hand, and waits for it. Idempotent. */
  close(): Promise<void>;
}

/**
 * Keeps the local copy in step: a sync is owed when none has ended since the last slot. It looks at the start, at each slot,
 * and every so often: what failed is taken up again, and what was missed is made up for. Of several processes one syncs;
 * the others find it busy, and then done.
 */
export function createSyncKeeper(parts: SyncKeeperParts): SyncKeeper {
  const { copy, scope, schedule, slots, sync, lookMs, clock, onFailure } = parts;
  const closing = new AbortController();
  const stop = AbortSignal.any([parts.signal, closing.signal]);
  let timer: NodeJS.Timeout | undefined;
  let inHand: Promise<void> | undefined;
  let closed: Promise<void> | undefined;

  async function isOwed(): Promise<boolean> {
    const slot = slots.last(new Date(clock()));
    if (!slot) return false;
    const latest = await copy.latestSync(scope);
    return latest?.endedAt === undefined || latest.endedAt < slot.getTime();
  }

  async function syncWhenOwed(): Promise<void> {
    try {
      if (await isOwed()) await sync(stop);
    } catch (error) {
      // Whoever syncs now does what was owed.
      if (!stop.aborted && !(error instanceof SyncBusyError)) onFailure(error);
    }
  }

  function look(): void {
    if (stop.aborted) return;
    inHand ??= syncWhenOwed().finally(() => {
      inHand = undefined;
    });
  }

  async function close(): Promise<void> {
    closing.abort();
    clearInterval(timer);
    await Promise.all([schedule.close(), inHand]);
  }

  return {
    async start() {
      if (stop.aborted) return;
      look();
      timer = setInterval(look, lookMs);
      await schedule.start(look);
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}

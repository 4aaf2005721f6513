import type { MappingCopy } from '../mappings/mapping-copy.js';
import { SyncBusyError } from '../mappings/sync-mappings.js';
import type { Schedule } from './schedule.js';
import type { NotifyScheduler } from './scheduler-event.js';
import type { Slots } from './slots.js';

export interface SyncSchedulerParts {
  readonly copy: Pick<MappingCopy, 'latestSync'>;
  /** The provider family whose mappings are copied; empty for all of them. */
  readonly scope: string;
  readonly schedule: Schedule;
  readonly slots: Slots;
  /** It must end soon after the signal aborts. */
  readonly sync: (signal: AbortSignal) => Promise<unknown>;
  /** Compares what moved with the stays ahead. It must end soon after the signal aborts. */
  readonly watch: (signal: AbortSignal) => Promise<unknown>;
  /** How often to check whether a sync is due. */
  readonly checkMs: number;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly notify: NotifyScheduler;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

export interface SyncScheduler {
  /** Checks whether a sync is due, and starts to watch the schedule. Called once. */
  start(): Promise<void>;
  /** Starts no more syncs, aborts the one in progress, and waits for it. Idempotent. */
  close(): Promise<void>;
}

/**
 * Keeps the local copy up to date: a sync is due when none has ended since the last slot. It checks at the start, at each slot
 * and every `checkMs`, and so resumes failed syncs and makes up for missed ones. Of several processes one syncs; the others
 * find it busy, and then done.
 *
 * It watches after each sync, and at the start, in case an earlier process was stopped in between.
 */
export function createSyncScheduler(parts: SyncSchedulerParts): SyncScheduler {
  const { copy, scope, schedule, slots, sync, watch, checkMs, clock, notify } = parts;
  const closing = new AbortController();
  const stop = AbortSignal.any([parts.signal, closing.signal]);
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> | undefined;
  let closed: Promise<void> | undefined;
  let isWatched = false;

  async function isDue(): Promise<boolean> {
    const slot = slots.last(new Date(clock()));
    if (!slot) return false;
    const latest = await copy.latestSync(scope);
    return latest?.endedAt === undefined || latest.endedAt < slot.getTime();
  }

  /** False if the copy is not up to date. */
  async function syncWhenDue(): Promise<boolean> {
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

  async function syncAndWatch(): Promise<void> {
    if (!(await syncWhenDue()) || isWatched || stop.aborted) return;
    try {
      await watch(stop);
      isWatched = true;
    } catch (error) {
      if (!stop.aborted) notify({ type: 'watch-failed', error });
    }
  }

  function check(): void {
    if (stop.aborted) return;
    current ??= syncAndWatch().finally(() => {
      current = undefined;
    });
  }

  async function close(): Promise<void> {
    closing.abort();
    clearInterval(timer);
    await Promise.all([schedule.close(), current]);
  }

  return {
    async start() {
      if (stop.aborted) return;
      check();
      timer = setInterval(check, checkMs);
      await schedule.start(check);
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}

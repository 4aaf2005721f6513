import type { WatchLedger } from '../src/cases/watch/watch-mappings.js';
import type { Config } from '../src/config/load.js';
import type { NotifyAll } from '../src/events/events.js';
import type { MappingCopy } from '../src/mappings/mapping-copy.js';
import type { RepeatedCheck } from '../src/schedule/repeated-check.js';
import { createTimedSchedule } from '../src/schedule/schedule.js';
import { createSlots, type Slots } from '../src/schedule/slots.js';
import { createSyncScheduler } from '../src/schedule/sync-scheduler.js';
import { createTodayScheduler, type TodaySchedulerParts } from '../src/schedule/today-scheduler.js';
import { clock } from './clock.js';
import { openMappingService } from './mapping-services.js';
import { syncCopy, watchCopy } from './mappings-sync.js';

export interface TodaySchedulerContext {
  readonly nights: Slots;
  readonly review: TodaySchedulerParts['review'];
  /** False if all processes share the work on a run: then the nightly run joins it. */
  readonly stopsBeforeNight: boolean;
  readonly notify: NotifyAll;
  readonly signal: AbortSignal;
}

/** Reviews the current day on its schedule, where one is configured. */
export function openTodayScheduler(
  { schedule: { today, resumeMinutes }, timezone }: Config,
  context: TodaySchedulerContext,
): RepeatedCheck | undefined {
  if (today === undefined) return undefined;
  const slots = createSlots(today, timezone);
  return createTodayScheduler({
    ...context,
    // Each process has its own: the ledger makes sure that only one of them reviews a slot's day.
    schedule: createTimedSchedule(slots),
    slots,
    checkMs: resumeMinutes * 60_000,
    clock,
  });
}

export interface SyncSchedulerContext {
  readonly work: SyncWork;
  readonly ledger: { readonly mappings: MappingCopy };
  readonly notify: NotifyAll;
  readonly signal: AbortSignal;
}

export interface SyncWorkContext {
  readonly ledger: WatchLedger & { readonly mappings: MappingCopy };
  readonly notify: NotifyAll;
  /** Called after each completed sync. */
  readonly afterSync: () => Promise<void>;
}

/** A sync in a process that keeps working, and what follows it. */
export interface SyncWork {
  /** It ends soon after the signal aborts. @throws what `syncMappings` throws */
  sync(signal: AbortSignal): Promise<void>;
  /** Whether this process is syncing now. */
  isSyncing(): boolean;
  /** Compares what moved with the current and upcoming stays. */
  watch(signal: AbortSignal): Promise<void>;
}

/** Syncs with the configured settings, whether on schedule or on request. */
export function createSyncWork(config: Config, { ledger, notify, afterSync }: SyncWorkContext): SyncWork {
  let syncing = 0;
  return {
    isSyncing: () => syncing > 0,
    async sync(stop) {
      const service = openMappingService(config);
      syncing += 1;
      try {
        await syncCopy({}, { ledger, service, notify }, stop);
        if (!stop.aborted) await afterSync();
      } finally {
        syncing -= 1;
        await service.close();
      }
    },
    async watch(stop) {
      await watchCopy(config, { ledger, notify }, stop);
    },
  };
}

/** Syncs the local copy of the mappings on its schedule, where one is configured. */
export function openSyncScheduler(
  { mappings, timezone, schedule }: Config,
  { work, ledger, notify, signal }: SyncSchedulerContext,
): RepeatedCheck | undefined {
  if (mappings.cron === undefined) return undefined;
  const slots = createSlots(mappings.cron, timezone);
  return createSyncScheduler({
    sync: work.sync,
    watch: work.watch,
    copy: ledger.mappings,
    // Each process has its own: the ledger makes sure that only one of them syncs.
    schedule: createTimedSchedule(slots),
    slots,
    checkMs: schedule.resumeMinutes * 60_000,
    clock,
    notify,
    signal,
  });
}

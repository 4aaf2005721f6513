import type { Log } from '../src/cli/log.js';
import { createSyncLog } from '../src/cli/log-sync.js';
import type { Config } from '../src/config/load.js';
import type { Ledger } from '../src/review/ledger.js';
import { createCronerSchedule } from '../src/schedule/croner.js';
import { createSlots } from '../src/schedule/slots.js';
import { createSyncKeeper, type SyncKeeper } from '../src/schedule/sync-keeper.js';
import { describeError } from '../src/text/safe-error.js';
import { clock } from './clock.js';
import { openMappingService } from './mapping-services.js';
import { syncCopy } from './sync-mappings.js';

export interface ScheduledSyncParts {
  readonly ledger: Pick<Ledger, 'mappings'>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Syncs the local copy by its schedule, where there is one. */
export function openScheduledSync(
  config: Config,
  { ledger, log, signal }: ScheduledSyncParts,
): SyncKeeper | undefined {
  const { mappings, timezone, schedule } = config;
  if (mappings.cron === undefined) return undefined;
  const slots = createSlots(mappings.cron, timezone);
  return createSyncKeeper({
    copy: ledger.mappings,
    scope: mappings.providerFamily ?? '',
    // Each process has its own: the sole right to sync sees to it that one of them does.
    schedule: createCronerSchedule(slots),
    slots,
    async sync(stop) {
      const service = openMappingService(config);
      try {
        await syncCopy(config, {}, { ledger, service, notify: createSyncLog(log) }, stop);
      } finally {
        await service.close();
      }
    },
    lookMs: schedule.resumeMinutes * 60_000,
    clock,
    onFailure: (error) => log.error({ fault: describeError(error) }, 'sync failed: it is tried again'),
    signal,
  });
}

import type { NotifySync } from '../mappings/sync-mappings.js';
import type { Log } from './log.js';

/** Writes what happens in a sync as JSON lines. */
export function createSyncLog(log: Log): NotifySync {
  return (event) => {
    const { syncId, scope, counts } = event.sync;
    const named = { sync: syncId, ...(scope !== '' && { providerFamily: scope }) };
    switch (event.type) {
      case 'sync-begun':
        return log.info(
          { ...named, since: new Date(event.sync.since).toISOString(), isResumed: event.isResumed },
          'sync begun',
        );
      case 'page-stored':
        if (event.sync.endedAt === undefined) return log.debug({ ...named, counts }, 'page stored');
        return log.info({ ...named, counts }, 'sync ended');
      case 'sync-restarted':
        return log.warn({ ...named, code: event.code }, 'resume key not known any more: sync begins again');
    }
  };
}

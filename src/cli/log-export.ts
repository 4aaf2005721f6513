import type { NotifyExport } from '../mappings/export/await-export.js';
import type { Log } from './log.js';

/** Writes what happens while an export is fetched as JSON lines. */
export function createExportLog(log: Log): NotifyExport {
  return (event) => {
    switch (event.type) {
      case 'waiting': {
        const newerThan = event.newerThan === undefined ? null : new Date(event.newerThan).toISOString();
        return log.info({ folder: event.folder, newerThan }, 'looking for an export');
      }
      case 'sighted':
        return log.info({ export: event.set.id }, 'export sighted');
      case 'downloading':
        return log.trace({ file: event.name, done: event.done, total: event.total }, 'downloading');
      case 'archived':
        return log.info({ file: event.name }, 'export file archived');
      case 'held-off':
        return log.warn({ reason: event.reason, delayMs: event.delayMs }, 'SFTP server failed: held off');
    }
  };
}

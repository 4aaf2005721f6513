import { type EventOf, event } from '../base/events.js';
import { formatCountOf, formatDuration, formatInstant } from '../base/format.js';
import type { MappingSync } from '../ledger/mappings.js';
import type { ExportSet } from './export/export-set.js';

type OfSync = { readonly sync: MappingSync };

/** Progress of a sync. */
export const syncEvents = {
  'sync-begun': event<OfSync & { readonly isResumed: boolean }>({
    level: 'info',
    log: 'sync begun',
    fields: ({ sync, isResumed }) => ({
      ...syncFields(sync),
      since: new Date(sync.since).toISOString(),
      isResumed,
    }),
    words({ sync: { since, scope, counts }, isResumed }) {
      const what = scope === '' ? 'all providers' : scope;
      return isResumed
        ? `mappings of ${what}: resuming the interrupted sync after ${formatCountOf(counts.read, 'mapping')}`
        : `mappings of ${what}: changes since ${formatInstant(since)}`;
    },
  }),
  'page-stored': event<OfSync>({
    level: ({ sync }) => (sync.endedAt === undefined ? 'debug' : 'info'),
    log: ({ sync }) => (sync.endedAt === undefined ? 'page stored' : 'sync ended'),
    fields: ({ sync }) => ({ ...syncFields(sync), counts: sync.counts }),
    words: ({ sync: { counts } }) =>
      `${formatCountOf(counts.read, 'mapping')} read, ${formatCountOf(counts.pages, 'page')}`,
  }),
  /** The service no longer knows the resume key: the cycle restarts at its lower bound. */
  'sync-restarted': event<OfSync & { readonly code: string }>({
    level: 'warn',
    log: 'resume key not known any more: sync begins again',
    fields: ({ sync, code }) => ({ ...syncFields(sync), code }),
    words: ({ code }) => `the service no longer knows the resume key (${code}): starting over`,
  }),
  /** The service refused a higher limit of mappings per page, or its answer was too large. Told once: the limit is remembered. */
  'pages-shortened': event<OfSync & { readonly limit: number }>({
    level: 'info',
    log: 'pages shortened: the service answers no longer ones, and this is remembered',
    fields: ({ sync, limit }) => ({ ...syncFields(sync), limit }),
    words: ({ limit }) =>
      `the service answers no longer pages: ${formatCountOf(limit, 'mapping')} each from now on`,
  }),
  /** This many records of a page could not be read; `reason` is the first one's. */
  'mappings-skipped': event<OfSync & { readonly count: number; readonly reason: string }>({
    level: 'warn',
    log: 'mappings skipped: they could not be read',
    fields: ({ sync, count, reason }) => ({ ...syncFields(sync), count, reason }),
    words: ({ count, reason }) =>
      `${formatCountOf(count, 'mapping')} of a page skipped: ${reason} (mappings stats lists them)`,
  }),
};

export type SyncEvent = EventOf<typeof syncEvents>;

export type NotifySync = (event: SyncEvent) => void;

function syncFields({ syncId, scope }: MappingSync) {
  return { sync: syncId, ...(scope !== '' && { providerFamily: scope }) };
}

/** Progress of fetching an export. */
export const exportEvents = {
  /** No export has appeared yet. @property newerThan epoch milliseconds */
  waiting: event<{ readonly folder: string; readonly newerThan: number | undefined }>({
    level: 'info',
    log: 'looking for an export',
    fields: ({ folder, newerThan }) => ({
      folder,
      newerThan: newerThan === undefined ? null : new Date(newerThan).toISOString(),
    }),
    words({ folder, newerThan }) {
      const since = newerThan === undefined ? '' : ` from ${formatInstant(newerThan)} on`;
      return `looking in ${folder === '' ? 'the SFTP root' : folder} for an export${since}`;
    },
  }),
  /** All its files are there; they are watched until they stop changing. */
  sighted: event<{ readonly set: ExportSet }>({
    level: 'info',
    log: 'export sighted',
    fields: ({ set }) => ({ export: set.id }),
    words: ({ set }) => `export ${set.id} is there; waiting until it no longer changes`,
  }),
  /** Drawn as a bar. */
  downloading: event<{ readonly name: string; readonly done: number; readonly total: number }>({
    level: 'trace',
    log: 'downloading',
    fields: ({ name: file, done, total }) => ({ file, done, total }),
  }),
  archived: event<{ readonly name: string }>({
    level: 'info',
    log: 'export file archived',
    fields: ({ name: file }) => ({ file }),
    words: ({ name }) => `${name} is in the archive`,
  }),
  /** The server failed; the next try is after the delay. */
  'held-off': event<{ readonly reason: string; readonly delayMs: number }>({
    level: 'warn',
    log: 'SFTP server failed: held off',
    fields: ({ reason, delayMs }) => ({ reason, delayMs }),
    words: ({ reason, delayMs }) => `${reason}; again in ${formatDuration(delayMs)}`,
  }),
};

export type ExportEvent = EventOf<typeof exportEvents>;

export type NotifyExport = (event: ExportEvent) => void;

import type { MappingSync } from '../ledger/mappings.js';

/** Progress of a sync. */
export type SyncEvent =
  | { readonly type: 'sync-begun'; readonly sync: MappingSync; readonly isResumed: boolean }
  | { readonly type: 'page-stored'; readonly sync: MappingSync }
  /** The service no longer knows the resume key: the cycle restarts at its lower bound. */
  | { readonly type: 'sync-restarted'; readonly sync: MappingSync; readonly code: string }
  /** The key after the last page was refused again, and nothing was new before it: the cycle is complete. */
  | { readonly type: 'sync-ended-at-key'; readonly sync: MappingSync; readonly code: string }
  /** The service refused a higher limit of mappings per page, or its answer was too large. Told once: the limit is remembered. */
  | { readonly type: 'pages-shortened'; readonly sync: MappingSync; readonly limit: number }
  /** This many records of a page could not be read; `reason` is the first one's. */
  | {
      readonly type: 'mappings-skipped';
      readonly sync: MappingSync;
      readonly count: number;
      readonly reason: string;
    };

export type NotifySync = (event: SyncEvent) => void;

import type { MappingSync } from './mapping-copy.js';

/** What happens in a sync, told as it happens. */
export type SyncEvent =
  | { readonly type: 'sync-begun'; readonly sync: MappingSync; readonly isResumed: boolean }
  | { readonly type: 'page-stored'; readonly sync: MappingSync }
  /** The service does not know the resume key any more: the cycle begins again at its lower bound. */
  | { readonly type: 'sync-restarted'; readonly sync: MappingSync; readonly code: string };

export type NotifySync = (event: SyncEvent) => void;

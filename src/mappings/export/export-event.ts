import type { ExportSet } from './export-set.js';

/** What happens while an export is fetched, told as it happens. */
export type ExportEvent =
  /** Nothing is there yet that could be the export. @property newerThan epoch milliseconds */
  | { readonly type: 'waiting'; readonly folder: string; readonly newerThan: number | undefined }
  /** All its files are there; they are watched until they stay as they are. */
  | { readonly type: 'sighted'; readonly set: ExportSet }
  | { readonly type: 'downloading'; readonly name: string; readonly done: number; readonly total: number }
  | { readonly type: 'archived'; readonly name: string }
  /** The server failed; it is tried again after a while. */
  | { readonly type: 'held-off'; readonly reason: string; readonly delayMs: number };

export type NotifyExport = (event: ExportEvent) => void;

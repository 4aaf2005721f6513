/** Somebody alive syncs. */
export class SyncBusyError extends Error {
  override readonly name = 'SyncBusyError';
}

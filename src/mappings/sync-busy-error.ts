import { SafeError } from '../text/safe-error.js';

/** Somebody alive syncs. */
export class SyncBusyError extends SafeError {
  override readonly name = 'SyncBusyError';
}

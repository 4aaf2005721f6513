import { SafeError } from '../text/safe-error.js';

/** Another live process is working on that day. */
export class DayBusyError extends SafeError {
  override readonly name = 'DayBusyError';
}

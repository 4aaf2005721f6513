import { SafeError } from '../text/safe-error.js';

/** Another live process is working on that day. */
export class DayBusyError extends SafeError {
  override readonly name = 'DayBusyError';
}

/** The request does not fit the state of the day or the configuration. */
export class UsageError extends SafeError {
  override readonly name = 'UsageError';
}

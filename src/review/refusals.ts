import { SafeError } from '../text/safe-error.js';

/** Somebody alive works on that day. */
export class DayBusyError extends SafeError {
  override readonly name = 'DayBusyError';
}

/** What was asked for does not fit the state of the day, or the configuration. */
export class UsageError extends SafeError {
  override readonly name = 'UsageError';
}

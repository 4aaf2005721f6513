import { SafeError } from './safe-error.js';

/** The request does not fit the state of the day, the configuration or the command line. */
export class UsageError extends SafeError {
  override readonly name = 'UsageError';
}

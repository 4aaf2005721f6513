import { SafeError } from './safe-error.js';

/** The reason of an abort by a signal: a person, or a machine shutting down, asked the process to stop. */
export class StoppedError extends SafeError {
  override readonly name = 'StoppedError';
  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
  }
}

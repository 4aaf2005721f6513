import { SafeError } from '../text/safe-error.js';

export type KeyErrorCode =
  /** The setting `keys` is missing, or the master key can't be used: nothing encrypted is readable. */
  | 'unusable'
  /** The key of one day is gone. */
  | 'lost'
  /** It was destroyed after `guestNameDays`, as intended. */
  | 'destroyed'
  /** The encrypted bytes are damaged or incomplete. */
  | 'damaged';

/** Something encrypted can't be read or written. The message names day, key and what to do. */
export class KeyError extends SafeError {
  override readonly name = 'KeyError';
  constructor(
    readonly code: KeyErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

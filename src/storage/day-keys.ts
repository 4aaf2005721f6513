import { SafeError } from '../base/safe-error.js';

/** The key of a business day. */
export interface DayKey {
  /** YYYY-MM-DD. */
  readonly day: string;
  /** 16 hexadecimal digits. A day can get another key after its first one was destroyed. */
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Buffer;
}

/**
 * The keys of business days. They are the secret, and are kept outside of ledger and archive.
 *
 * Reading a key is synchronous, because a transaction of SQLite can't wait.
 */
export interface DayKeys {
  /** The day's key, for writing; created if there is none. @throws KeyError */
  use(day: string): DayKey;
  /** The key under which something was written. @throws KeyError `lost`, `destroyed`, `unusable` */
  find(day: string, id: string): DayKey;
}

/** Destroys keys that are no longer needed. */
export interface DayKeyRemoval {
  /** The days that have a key, oldest first. */
  listDays(): readonly string[];
  /** Makes everything written under the day's key unreadable. */
  destroy(day: string): void;
}

type KeyErrorCode =
  /** The setting `keys` is missing, or its folder has no keys: nothing encrypted is readable. */
  | 'unusable'
  /** The key of one day is gone. */
  | 'lost'
  /** It was destroyed after `guestNameDays` or given up, as intended. */
  | 'destroyed'
  /** The key, or what is encrypted under it, is damaged or incomplete. */
  | 'damaged';

/** Something encrypted can't be read or written. The message names day, key and what to do. */
export class KeyError extends SafeError {
  override readonly name = 'KeyError';
  constructor(
    readonly code: KeyErrorCode,
    message: string,
  ) {
    super(message);
  }
}

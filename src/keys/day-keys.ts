/** The data key of a business day. */
export interface DayKey {
  /** YYYY-MM-DD. */
  readonly day: string;
  /** 16 hexadecimal digits. A day can get another key after its first one was destroyed. */
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Buffer;
}

/**
 * The data keys of business days, each wrapped by the master key and kept outside of ledger and archive.
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

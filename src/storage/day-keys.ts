import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { SafeError } from '../base/safe-error.js';
import { isCalendarDay } from '../booking/business-day.js';
import { createTextFile, listNames, readTextFile, replaceTextFile, wipeFile } from './durable-file.js';

/** The key of a business day. */
interface DayKey {
  /** YYYY-MM-DD. */
  readonly day: string;
  /** 16 hexadecimal digits. A day can get another key after its first one was destroyed. */
  readonly id: string;
  /** 32 bytes. */
  readonly secret: Buffer;
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

/** All keys are for AES-256. */
const keyBytes = 32;
/** Days whose keys a process remembers. */
const rememberedDays = 64;
/** Stands for all keys of a day that are lost. */
const anyKey = '*';

export type KeyFolder = ReturnType<typeof createKeyFolder>;

/** For those who seal and open: they destroy nothing. */
export type DayKeys = Pick<KeyFolder, 'use' | 'find'>;

/**
 * The keys of business days in a folder: that of a day in `2026-11-20.key`, the ids of destroyed ones in `2026-11-20.destroyed`. They are
 * the secret, and are kept outside of ledger and archive.
 *
 * Reading a key is synchronous, because a transaction of SQLite can't wait.
 */
export function createKeyFolder(root: string) {
  /** By id. */
  const remembered = new Map<string, DayKey>();
  /** Keys used since the folder was last read, by day: a transaction encrypts thousands of values at once. */
  const inUse = new Map<string, DayKey>();
  const keyPath = (day: string) => join(root, `${day}.key`);
  const destroyedPath = (day: string) => join(root, `${day}.destroyed`);

  const listDays = () =>
    listNames(root).flatMap((name) => /^(\d{4}-\d{2}-\d{2})\.key$/.exec(name)?.[1] ?? []);
  const readDestroyed = (day: string) => (readTextFile(destroyedPath(day)) ?? '').split('\n').slice(0, -1);

  /** Its id and its secret, in base64. */
  const readWords = (day: string) => readTextFile(keyPath(day))?.trim().split(' ');

  function readKey(day: string): DayKey | undefined {
    const words = readWords(day);
    if (!words) return undefined;
    const [id = '', key = ''] = words;
    const secret = Buffer.from(key, 'base64');
    if (secret.length !== keyBytes || id !== identify(day, secret))
      throw new KeyError('damaged', `${keyPath(day)} is damaged: restore it from the backup of the keys`);
    return { day, id, secret };
  }

  /** The key that is stored in the end: another process may make one at the same time. */
  function makeKey(day: string): DayKey {
    const secret = randomBytes(keyBytes);
    const id = identify(day, secret);
    createTextFile(keyPath(day), `${id} ${secret.toString('base64')}\n`);
    const stored = readKey(day);
    if (!stored) throw missing(day, id);
    return stored;
  }

  function addDestroyed(day: string, id: string): void {
    replaceTextFile(destroyedPath(day), [...readDestroyed(day), id, ''].join('\n'));
  }

  function missing(day: string, id: string): KeyError {
    const destroyed = readDestroyed(day);
    const forget = `hotel-review guest purge --forget-key ${day}`;
    if (destroyed.includes(id) || destroyed.includes(anyKey))
      return new KeyError(
        'destroyed',
        `key ${id} of ${day} was destroyed after guestNameDays, or given up by guest purge --forget-key: what was written under it can't be read any more`,
      );
    if (listDays().length === 0)
      return new KeyError(
        'unusable',
        `there are no keys in ${root}, but names of ${day} are encrypted under one: restore the folder from its backup, or accept that these names are lost: ${forget}`,
      );
    return new KeyError(
      'lost',
      `key ${id} of ${day} is not in ${root}: restore ${keyPath(day)} from the backup of the keys. Without it, what was written under it can't be read; other days are not concerned. If it is lost for good: ${forget}`,
    );
  }

  return {
    root,
    /** The days that have a key, oldest first. */
    listDays,
    /** The day's key, for writing; created if there is none. @throws KeyError */
    use(day: string): DayKey {
      const used = inUse.get(day);
      if (used) return used;
      if (!isCalendarDay(day)) throw new RangeError(`not a business day: ${JSON.stringify(day)}`);
      const key = readKey(day) ?? makeKey(day);
      // Only until the current caller yields, because others may then destroy the key.
      if (inUse.size === 0) queueMicrotask(() => inUse.clear());
      inUse.set(day, key);
      return key;
    },
    /** The key under which something was written. @throws KeyError `lost`, `destroyed`, `unusable` */
    find(day: string, id: string): DayKey {
      const known = remembered.get(id);
      if (known) return known;
      const key = readKey(day);
      if (key?.id !== id) throw missing(day, id);
      remembered.set(id, key);
      const [oldest] = remembered.size > rememberedDays ? remembered.keys() : [];
      if (oldest !== undefined) remembered.delete(oldest);
      return key;
    },
    /** Makes everything written under the day's key unreadable. */
    destroy(day: string): void {
      const [id] = readWords(day) ?? [];
      if (id === undefined) return;
      // First, so that a key that is gone never looks lost.
      addDestroyed(day, id);
      wipeFile(keyPath(day));
      remembered.delete(id);
      inUse.delete(day);
    },
    /** Declares the day's lost keys destroyed. */
    forget: (day: string) => addDestroyed(day, anyKey),
    /** Reads all keys, and says why some can't be used. Creates nothing. */
    examine() {
      const days = listDays();
      const faults: string[] = [];
      for (const day of days) {
        try {
          readKey(day);
        } catch (error) {
          if (!(error instanceof KeyError)) throw error;
          faults.push(error.message);
        }
      }
      return { days, faults };
    },
  };
}

/** A key's id tells a damaged key, and one that was copied from another day: under either, data would be lost. */
function identify(day: string, secret: Buffer): string {
  return createHash('sha256')
    .update(`hotel-review key of ${day}\n`)
    .update(secret)
    .digest('hex')
    .slice(0, 16);
}

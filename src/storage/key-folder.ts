import { randomBytes } from 'node:crypto';
import { open, seal } from './cipher.js';
import { type DayKey, type DayKeyRemoval, type DayKeys, KeyError } from './day-keys.js';
import { anyKey, createKeyFiles, type DayFile, type MasterFile } from './key-files.js';
import { isDay } from './sealed-value.js';

/** All keys are for AES-256. */
const keyBytes = 32;

interface Rotation {
  /** The id of the new master key. */
  readonly master: string;
  /** The days whose keys it now wraps. */
  readonly days: readonly string[];
  /** The days whose keys no master key of the folder can unwrap; they are left unchanged. */
  readonly unreadable: readonly string[];
}

/** The contents of the folder. */
interface KeyInventory {
  readonly masters: number;
  readonly days: readonly string[];
  /** Why some keys can't be used, each reason once. */
  readonly faults: readonly string[];
}

export interface KeyFolder extends DayKeys, DayKeyRemoval {
  readonly root: string;
  /** Checks all keys. Creates nothing. */
  examine(): KeyInventory;
  /** Declares the day's lost keys destroyed. */
  forget(day: string): void;
  /** Replaces the master key. Nothing that was encrypted changes. Resumes an interrupted rotation. */
  rotate(): Rotation;
}

/** Days whose keys a process remembers. */
const rememberedDays = 64;

/** Day keys in a folder, wrapped by a master key that is there too, in a file of its own. */
export function createKeyFolder(root: string): KeyFolder {
  const files = createKeyFiles(root);
  /** By id. */
  const masters = new Map<string, Buffer>();
  const remembered = new Map<string, DayKey>();
  /** Keys used since the folder was last read, by day: a transaction encrypts thousands of values at once. */
  const inUse = new Map<string, DayKey>();

  function openMaster({ id, number, stored: { kind, key } }: MasterFile): Buffer {
    const known = masters.get(id);
    if (known) return known;
    const path = files.masterPath(number);
    if (kind !== 'plain')
      throw new KeyError(
        'unusable',
        `the master key in ${path} is itself encrypted, which is not supported: replace it there by the decrypted key, as "stored":{"kind":"plain","key":"BASE64"}`,
      );
    const secret = Buffer.from(key, 'base64');
    if (secret.length !== keyBytes)
      throw new KeyError('unusable', `the master key in ${path} has the wrong length`);
    masters.set(id, secret);
    return secret;
  }

  /** Undefined if the master key is not there. */
  function findMaster(id: string): Buffer | undefined {
    const known = masters.get(id);
    if (known) return known;
    const found = files.listMasters().find((file) => file.id === id);
    return found && openMaster(found);
  }

  /** The master key in use; made if there are no keys at all. */
  function findCurrent(): MasterFile {
    // Read first: another process makes the master key before the first day's key.
    const days = files.listDays();
    const current = files.listMasters().at(-1);
    if (current) return current;
    if (days.length > 0) throw new KeyError('unusable', sayNoMaster());
    addMaster(1);
    return findCurrent();
  }

  function addMaster(number: number): void {
    const id = randomBytes(8).toString('hex');
    const key = randomBytes(keyBytes).toString('base64');
    files.addMaster({ id, number, stored: { kind: 'plain', key } });
  }

  function unwrap(file: DayFile): DayKey {
    const { day, id, master, key } = file;
    const known = remembered.get(id);
    if (known) return known;
    const masterKey = findMaster(master);
    if (!masterKey) {
      // A rotation may have replaced the master key since the file was read.
      const newest = files.readDay(day);
      if (newest?.id === id && newest.master !== master) return unwrap(newest);
      throw new KeyError('unusable', sayMissing(file));
    }
    const secret = open(masterKey, Buffer.from(key, 'base64'), wrapContext(file));
    if (!secret)
      throw new KeyError(
        'damaged',
        `${files.dayPath(day)} can't be unwrapped by master key ${master}: restore both from the same backup of the keys`,
      );
    const found = { day, id, secret };
    remembered.set(id, found);
    const [oldest] = remembered.size > rememberedDays ? remembered.keys() : [];
    if (oldest !== undefined) remembered.delete(oldest);
    return found;
  }

  function wrap({ day, id, secret }: DayKey, current: MasterFile): DayFile {
    const file = { day, id, master: current.id };
    return { ...file, key: seal(openMaster(current), secret, wrapContext(file)).toString('base64') };
  }

  function makeKey(day: string): DayFile {
    let current = findCurrent();
    const key: DayKey = { day, id: randomBytes(8).toString('hex'), secret: randomBytes(keyBytes) };
    files.addDay(wrap(key, current));
    // A rotation that began meanwhile may have listed the keys before this file was there.
    for (let newest = findCurrent(); newest.id !== current.id; newest = findCurrent()) {
      current = newest;
      if (files.readDay(day)?.id === key.id) files.replaceDay(wrap(key, current));
    }
    const stored = files.readDay(day);
    if (!stored) throw lost(day, key.id);
    return stored;
  }

  function sayMissing({ day, master }: DayFile): string {
    if (files.listMasters().length === 0) return sayNoMaster();
    return `the key of ${day} in ${root} is wrapped by master key ${master}, which is not there: restore ${root}/master-*.key from the backup of the keys`;
  }

  const sayNoMaster = () =>
    `there is no master key in ${root}: restore ${root}/master-*.key from the backup of the keys. Without it, what was written under the keys in ${root}/days can't be read; to continue without that, move ${root}/days elsewhere`;

  function lost(day: string, id: string): KeyError {
    const destroyed = files.readDestroyed(day);
    if (destroyed.includes(id) || destroyed.includes(anyKey))
      return new KeyError(
        'destroyed',
        `key ${id} of ${day} was destroyed after guestNameDays, or given up by hotel-review keys forget: what was written under it can't be read any more`,
      );
    return new KeyError(
      'lost',
      `key ${id} of ${day} is not in ${root}: restore ${files.dayPath(day)} from the backup of the keys. Without it, what was written under it can't be read; other days are not concerned. If it is lost for good: hotel-review keys forget ${day}`,
    );
  }

  return {
    root,
    use(day) {
      const used = inUse.get(day);
      if (used) return used;
      if (!isDay(day)) throw new RangeError(`not a business day: ${JSON.stringify(day)}`);
      const key = unwrap(files.readDay(day) ?? makeKey(day));
      // Only until the current caller yields, because others may then destroy the key.
      if (inUse.size === 0) queueMicrotask(() => inUse.clear());
      inUse.set(day, key);
      return key;
    },
    find(day, id) {
      const known = remembered.get(id);
      if (known) return known;
      const file = files.readDay(day);
      if (file?.id !== id) throw lost(day, id);
      return unwrap(file);
    },
    listDays: () => files.listDays(),
    destroy(day) {
      const file = files.readDay(day);
      if (!file) return;
      files.destroyDay(file);
      remembered.delete(file.id);
      inUse.delete(day);
    },
    examine() {
      const [masters, days] = [files.listMasters().length, files.listDays()];
      const faults = new Set<string>();
      for (const day of days) {
        try {
          const file = files.readDay(day);
          if (file) unwrap(file);
        } catch (error) {
          if (!(error instanceof KeyError)) throw error;
          faults.add(error.message);
        }
      }
      return { masters, days, faults: [...faults] };
    },
    forget(day) {
      files.destroyDay({ day, id: anyKey });
      inUse.delete(day);
    },
    rotate() {
      const { number } = findCurrent();
      const old = files.listMasters();
      addMaster(number + 1);
      const current = findCurrent();
      const unreadable = new Set<string>();
      const isLeft = (day: string) => {
        const file = files.readDay(day);
        return file !== undefined && file.master !== current.id && !unreadable.has(day);
      };
      // Repeated until none is left: another process may create a key meanwhile.
      for (
        let left = files.listDays().filter(isLeft);
        left.length > 0;
        left = files.listDays().filter(isLeft)
      )
        for (const day of left) {
          const file = files.readDay(day);
          if (!file) continue;
          try {
            files.replaceDay(wrap(unwrap(file), current));
          } catch (error) {
            if (!(error instanceof KeyError)) throw error;
            unreadable.add(day);
          }
        }
      const needed = new Set(files.listDays().map((day) => files.readDay(day)?.master));
      for (const master of old) if (!needed.has(master.id)) files.removeMaster(master);
      return {
        master: current.id,
        days: files.listDays().filter((day) => !unreadable.has(day)),
        unreadable: [...unreadable].sort(),
      };
    },
  };
}

function wrapContext({ day, id, master }: Omit<DayFile, 'key'>): Buffer {
  return Buffer.from(`hotel-review key of ${day} ${id} under ${master}`);
}

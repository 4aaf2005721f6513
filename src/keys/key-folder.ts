import { randomBytes } from 'node:crypto';
import { open, seal } from './cipher.js';
import { isDay } from './day.js';
import type { DayKey, DayKeyRemoval, DayKeys } from './day-keys.js';
import { KeyError, LockedKeyError } from './key-error.js';
import { anyKey, createKeyFiles, type DayFile, type MasterFile } from './key-files.js';
import { type MasterKeeper, masterBytes } from './master-key.js';

export interface KeyFolderOptions {
  readonly root: string;
  readonly keeper: MasterKeeper;
}

export interface Rotation {
  /** The id of the new master key. */
  readonly master: string;
  /** The days whose keys it now wraps. */
  readonly days: readonly string[];
  /** The days whose keys no master key of the folder can unwrap; they are left unchanged. */
  readonly unreadable: readonly string[];
}

/** The contents of the folder. */
export interface KeyInventory {
  readonly masters: number;
  readonly days: readonly string[];
  /** Why some keys can't be used, each reason once. */
  readonly faults: readonly string[];
}

export interface KeyFolder extends DayKeys, DayKeyRemoval {
  readonly root: string;
  /** Checks all keys. Creates nothing. */
  examine(): Promise<KeyInventory>;
  /** Declares the day's lost keys destroyed. */
  forget(day: string): void;
  /** Replaces the master key. Nothing that was encrypted changes. Resumes an interrupted rotation. */
  rotate(): Promise<Rotation>;
}

/** Days whose keys a process remembers. */
const rememberedDays = 64;

/** Day keys in a folder, wrapped by a master key that is there too, in its own file or encrypted by a server. */
export function createKeyFolder({ root, keeper }: KeyFolderOptions): KeyFolder {
  const files = createKeyFiles(root);
  /** By id. A master key that can't be opened is tried again by the next `unlock`. */
  const masters = new Map<string, Buffer | KeyError>();
  const remembered = new Map<string, DayKey>();
  /** Keys used since the folder was last read, by day: a transaction encrypts thousands of values at once. */
  const inUse = new Map<string, DayKey>();
  /** New keys that are still wrapped by a replaced master key. */
  const outdated: DayKey[] = [];

  function findMaster(id: string, day: string): Buffer {
    const master = masters.get(id);
    if (Buffer.isBuffer(master)) return master;
    if (master) throw new LockedKeyError(master.code, master.message, { cause: master });
    throw new LockedKeyError(
      'unusable',
      `the key of ${day} in ${root} is wrapped by master key ${id}, which is not there: restore ${root}/master-*.key from the backup of the keys`,
    );
  }

  function unwrap(file: DayFile): DayKey {
    const { day, id, master, key } = file;
    const known = remembered.get(id);
    if (known) return known;
    const secret = open(findMaster(master, day), Buffer.from(key, 'base64'), wrapContext(file));
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

  function wrap({ day, id, secret }: DayKey, { id: master }: MasterFile): DayFile {
    const context = wrapContext({ day, id, master });
    return { day, id, master, key: seal(findMaster(master, day), secret, context).toString('base64') };
  }

  function makeKey(day: string): DayFile {
    const current = files.listMasters().at(-1);
    if (!current) throw new LockedKeyError('unusable', sayNoMaster());
    const key: DayKey = { day, id: randomBytes(8).toString('hex'), secret: randomBytes(32) };
    files.addDay(wrap(key, current));
    const stored = files.readDay(day);
    if (!stored) throw lost(day, key.id);
    if (stored.id === key.id && files.listMasters().at(-1)?.id !== current.id) {
      // A rotation that began meanwhile may have listed the keys before this file was there.
      outdated.push(key);
      throw new LockedKeyError(
        'unusable',
        `the master key in ${root} was just replaced: run the command again`,
      );
    }
    return stored;
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

  async function addMaster(number: number): Promise<void> {
    const id = randomBytes(8).toString('hex');
    const { secret, stored } = await keeper.create(id);
    if (files.addMaster({ id, number, stored })) masters.set(id, secret);
  }

  async function unlock(): Promise<void> {
    if (files.listMasters().length === 0) {
      if (files.listDays().length > 0) throw new KeyError('unusable', sayNoMaster());
      await addMaster(1);
    }
    for (const { id, stored } of files.listMasters()) {
      if (Buffer.isBuffer(masters.get(id))) continue;
      masters.set(id, await keeper.open(id, stored).then(expectLength, expectKeyError));
    }
    const current = files.listMasters().at(-1);
    if (current) for (const key of outdated.splice(0)) files.replaceDay(wrap(key, current));
  }

  return {
    root,
    unlock,
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
    async examine() {
      const [masters, days] = [files.listMasters().length, files.listDays()];
      const faults = new Set<string>();
      const collect = (error: unknown) => void faults.add(expectKeyError(error).message);
      if (masters + days.length > 0) await unlock().catch(collect);
      for (const day of faults.size > 0 ? [] : days) {
        try {
          const file = files.readDay(day);
          if (file) unwrap(file);
        } catch (error) {
          collect(error);
        }
      }
      return { masters, days, faults: [...faults] };
    },
    forget(day) {
      files.destroyDay({ day, id: anyKey });
      inUse.delete(day);
    },
    async rotate() {
      await unlock();
      const old = files.listMasters();
      await addMaster((old.at(-1)?.number ?? 0) + 1);
      await unlock();
      const current = files.listMasters().at(-1);
      if (!current) throw new KeyError('unusable', sayNoMaster());
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

function expectLength(secret: Buffer): Buffer | KeyError {
  return secret.length === masterBytes
    ? secret
    : new KeyError('unusable', 'a master key has the wrong length');
}

function expectKeyError(error: unknown): KeyError {
  if (error instanceof KeyError) return error;
  throw error;
}

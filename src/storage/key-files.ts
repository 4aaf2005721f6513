import { join } from 'node:path';
import { KeyError } from './day-keys.js';
import { createTextFile, listNames, readTextFile, replaceTextFile, wipeFile } from './durable-file.js';

/** A file of a master key. The one with the highest number is in use; others are left over from an interrupted rotation. */
export interface MasterFile {
  readonly id: string;
  readonly number: number;
  readonly stored: {
    /** `plain`; anything else can't be used. */
    readonly kind: string;
    /** In base64. */
    readonly key: string;
  };
}

/** The file of a day's key. */
export interface DayFile {
  readonly day: string;
  readonly id: string;
  /** The id of the master key that wraps it. */
  readonly master: string;
  /** The wrapped key, in base64. */
  readonly key: string;
}

/** The key files in a folder: `master-1.key`, `days/2026-11-20.key`, and the ids of destroyed keys. */
export function createKeyFiles(root: string) {
  const days = join(root, 'days');
  const masterPath = (number: number) => join(root, `master-${number}.key`);
  const dayPath = (day: string) => join(days, `${day}.key`);
  const destroyedPath = (day: string) => join(days, `${day}.destroyed`);

  const readDay = (day: string): DayFile | undefined => readJson<DayFile>(dayPath(day));
  const readDestroyed = (day: string): readonly string[] =>
    (readTextFile(destroyedPath(day)) ?? '').split('\n').filter((id) => id !== '');

  return {
    masterPath,
    dayPath,
    readDay,
    readDestroyed,
    /** In the order of their numbers. */
    listMasters(): MasterFile[] {
      const numbers = listNames(root).flatMap((name) => /^master-(\d+)\.key$/.exec(name)?.[1] ?? []);
      return numbers
        .map(Number)
        .sort((one, other) => one - other)
        .flatMap((number) => {
          const file = readJson<Omit<MasterFile, 'number'>>(masterPath(number));
          return file ? [{ ...file, number }] : [];
        });
    },
    /** False if there already is one with that number. */
    addMaster: ({ number, ...file }: MasterFile) => createTextFile(masterPath(number), toText(file)),
    removeMaster: ({ number }: Pick<MasterFile, 'number'>) => wipeFile(masterPath(number)),
    /** The days that have a key, oldest first. */
    listDays: () => listNames(days).flatMap((name) => /^(\d{4}-\d{2}-\d{2})\.key$/.exec(name)?.[1] ?? []),
    /** False if the day already has a key. */
    addDay: (file: DayFile) => createTextFile(dayPath(file.day), toText(file)),
    /** A key that was destroyed meanwhile stays destroyed. */
    replaceDay(file: DayFile): void {
      replaceTextFile(dayPath(file.day), toText(file));
      if (readDestroyed(file.day).includes(file.id)) wipeFile(dayPath(file.day));
    },
    /** @param id of the key, or `anyKey` */
    destroyDay({ day, id }: Pick<DayFile, 'day' | 'id'>): void {
      // First, so that a concurrent rotation can't bring it back.
      replaceTextFile(destroyedPath(day), [...readDestroyed(day), id, ''].join('\n'));
      wipeFile(dayPath(day));
    },
  };
}

/** Stands for all keys of a day that are lost. */
export const anyKey = '*';

function readJson<Value>(path: string): Value | undefined {
  const text = readTextFile(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Value;
  } catch {
    throw new KeyError('damaged', `${path} is damaged: restore it from the backup of the keys`);
  }
}

function toText(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

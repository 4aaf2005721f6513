import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { BusinessDay } from '../../booking/business-day.js';
import type { PathTemplate } from '../../sources/files/path-template.js';

/** How far around today is looked: a sample may be old, a test's day may lie ahead. */
const daysAhead = 366;
const daysBack = 3 * 366;

export interface FoundFile {
  readonly path: string;
  readonly day: BusinessDay;
}

/**
 * Finds the newest of the files that a path template names; undefined when there is none. A template without the day is
 * one file, taken for that of the day before.
 */
export async function findExport(locate: PathTemplate, today: BusinessDay): Promise<FoundFile | undefined> {
  const isThere = createLookUp();
  const yesterday = today.previous();
  if (locate(today) === locate(yesterday)) {
    const path = locate(yesterday);
    return (await isThere(path)) ? { path, day: yesterday } : undefined;
  }
  let day = today;
  for (let ahead = 0; ahead < daysAhead; ahead++) day = day.next();
  for (let looked = 0; looked <= daysAhead + daysBack; looked++) {
    const path = locate(day);
    if (await isThere(path)) return { path, day };
    day = day.previous();
  }
  return undefined;
}

/** Reads each folder once, however many days are looked for in it. */
function createLookUp(): (path: string) => Promise<boolean> {
  const folders = new Map<string, Promise<ReadonlySet<string>>>();
  return async (path) => {
    const folder = dirname(path);
    const known =
      folders.get(folder) ??
      readdir(folder)
        .then((names) => new Set(names))
        .catch(() => new Set<string>());
    folders.set(folder, known);
    return (await known).has(basename(path));
  };
}

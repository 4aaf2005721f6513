import type { ExportSet } from './export-set.js';

/** Tells for how long an export has been seen to stay as it is, in milliseconds. */
export function createQuietWatch(): (set: ExportSet, now: number) => number {
  let seen: { readonly traits: string; readonly since: number } | undefined;
  return (set, now) => {
    const traits = describeTraits(set);
    if (seen?.traits !== traits) seen = { traits, since: now };
    return now - seen.since;
  };
}

function describeTraits({ id, files }: ExportSet): string {
  const traits = files.map(({ name, size, modifiedAt }) => [name, size, modifiedAt]);
  return JSON.stringify([id, traits.sort()]);
}

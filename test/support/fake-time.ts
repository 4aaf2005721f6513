import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Debian keeps it in the folder of the machine's architecture. */
const library = existsSync('/usr/lib')
  ? readdirSync('/usr/lib')
      .map((folder) => join('/usr/lib', folder, 'faketime', 'libfaketime.so.1'))
      .find((file) => existsSync(file))
  : undefined;

/** What is missing on this machine, and how to get it. */
export const fakeTimeNeeds =
  library === undefined ? 'needs libfaketime: apt-get install faketime' : undefined;

/**
 * The variables under which a process believes that it begins at that instant; its clock goes on from there as usual.
 *
 * @param instant such as `2026-03-29T00:59:55Z`
 */
export function startingAt(instant: string): NodeJS.ProcessEnv {
  if (library === undefined) throw new Error(fakeTimeNeeds);
  const written = new Date(instant).toISOString().replace('T', ' ').slice(0, 19);
  return { LD_PRELOAD: library, FAKETIME: `@${written}`, TZ: 'UTC', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

import { ArchiveError } from './archive.js';

/** In UTF-8; file systems allow 255. */
const longestName = 200;
const unsafeCharacter = /[/\\\p{Cc}\p{Cs}\u2028\u2029]/u;

/**
 * Lets through what is a plain file name everywhere: no slash of either kind, no leading dot, no control character, no
 * half of a character, not too long. Names come from servers of others.
 *
 * @throws ArchiveError `unsafe-name`
 */
export function expectSafeName(name: string): string {
  const isSafe =
    name !== '' &&
    !name.startsWith('.') &&
    !unsafeCharacter.test(name) &&
    Buffer.byteLength(name) <= longestName;
  if (isSafe) return name;
  throw new ArchiveError('unsafe-name', `the archive keeps nothing under the name ${describe(name)}`);
}

function describe(name: string): string {
  return JSON.stringify(name.length > longestName ? `${name.slice(0, longestName)}…` : name);
}

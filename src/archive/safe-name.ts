import { ArchiveError } from './archive.js';
import { isPlainName } from './plain-name.js';

/** In UTF-8; file systems allow 255. */
const longestName = 200;

/**
 * Lets through what is a plain file name and not too long. Names come from servers of others.
 *
 * @throws ArchiveError `unsafe-name`
 */
export function expectSafeName(name: string): string {
  if (isPlainName(name) && Buffer.byteLength(name) <= longestName) return name;
  throw new ArchiveError('unsafe-name', `the archive keeps nothing under the name ${describe(name)}`);
}

function describe(name: string): string {
  return JSON.stringify(name.length > longestName ? `${name.slice(0, longestName)}…` : name);
}

import { stat } from 'node:fs/promises';
import { describeError } from '../text/safe-error.js';
import { quoteForShell } from '../text/shell-quote.js';
import { type Finding, findingsOf } from './finding.js';
import { findPlace, tryToWrite } from './place.js';

/** A folder that will hold files with guests' names. */
export interface KeptFolder {
  readonly part: 'archive' | 'spool';
  readonly path: string;
}

/** Checks that such a folder can be written, and by its owner alone. */
export async function checkKeptFolder(
  { part, path }: KeptFolder,
  platform: NodeJS.Platform,
): Promise<readonly Finding[]> {
  const { ok, warning, wrong } = findingsOf(part);
  try {
    const { folder, isThere } = await findPlace(path);
    await tryToWrite(folder);
    if (!isThere) return [ok(`there is none yet; it will be made at ${path}`)];
    const writable = ok(`${path} can be written`);
    const open = (await stat(path)).mode & 0o077;
    if (open === 0 || platform === 'win32') return [writable];
    return [
      writable,
      warning(
        `${path} is open to others than its owner, and holds guests' names`,
        `chmod 700 ${quoteForShell(path)}`,
      ),
    ];
  } catch (error) {
    const setting = part === 'archive' ? 'archive' : 'file.spool';
    return [
      wrong(
        `${path} cannot be written: ${describeError(error)}`,
        `Mend that, or name another folder with ${setting}.`,
      ),
    ];
  }
}

import { stat } from 'node:fs/promises';
import { explain } from './check.js';
import { type Finding, findingsOf } from './finding.js';
import { findPlace, tryToWrite } from './place.js';

/** Checks a folder that will hold files with guests' names: that it can be written, and by its owner alone. */
export async function checkKeptFolder({
  part,
  path,
  platform,
}: {
  readonly part: 'archive' | 'spool';
  readonly path: string;
  readonly platform: NodeJS.Platform;
}): Promise<readonly Finding[]> {
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
        `chmod 700 ${quote(path)}`,
      ),
    ];
  } catch (error) {
    const setting = part === 'archive' ? 'archive' : 'file.spool';
    return [
      wrong(
        `${path} cannot be written: ${explain(error)}`,
        `Mend that, or name another folder with ${setting}.`,
      ),
    ];
  }
}

/** A path as a shell takes it. */
export function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

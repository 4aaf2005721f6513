import type { Stats } from 'node:fs';
import type { Attributes } from 'ssh2';
import { RequestRefused, status } from './status.js';

/** What a client asks for; what it does not name is left as it is. Times are seconds. */
export interface WantedAttributes {
  readonly mode?: number | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly size?: number | undefined;
  readonly atime?: number | undefined;
  readonly mtime?: number | undefined;
}

/** What can be changed, by path or by open file. */
export interface Changeable {
  stat(): Promise<Stats>;
  truncate(size: number): Promise<void>;
  chmod(mode: number): Promise<void>;
  utimes(atime: number, mtime: number): Promise<void>;
}

/** Files and folders hold guests' names, so whatever a client asks, they are for their owner only. */
export const newFileMode = 0o600;
export const newFolderMode = 0o700;
const ownerOnly = 0o700;

export function toAttributes(stats: Stats): Attributes {
  const { mode, uid, gid, size, atimeMs, mtimeMs } = stats;
  return { mode, uid, gid, size, atime: Math.floor(atimeMs / 1_000), mtime: Math.floor(mtimeMs / 1_000) };
}

/** Changes size, mode (its owner's part) and times. @throws RequestRefused for another owner */
export async function changeAttributes(what: Changeable, wanted: WantedAttributes): Promise<void> {
  const { size, mode, uid, gid, atime, mtime } = wanted;
  if (uid !== undefined || gid !== undefined) {
    const stats = await what.stat();
    if (uid !== stats.uid || gid !== stats.gid) {
      throw new RequestRefused(status.PERMISSION_DENIED, 'The owner cannot be changed');
    }
  }
  if (size !== undefined) await what.truncate(size);
  if (mode !== undefined) await what.chmod(mode & ownerOnly);
  if (atime !== undefined && mtime !== undefined) await what.utimes(atime, mtime);
}

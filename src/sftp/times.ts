import { setTimeout as pause } from 'node:timers/promises';
import type { RemoteAttributes } from './attributes.js';
import type { RemoteCalls } from './remote-calls.js';
import type { TimeKeeping } from './sftp.js';

/** Times are whole seconds: after this long, a clock shows another one. */
const nextSecondMs = 1_100;

/** Looks at a file twice, without reading it in between. */
export async function examineTime(remote: Pick<RemoteCalls, 'stat'>, path: string): Promise<TimeKeeping> {
  const first = (await remote.stat(path))?.mtime;
  if (first === undefined) return 'none';
  await pause(nextSecondMs);
  return (await remote.stat(path))?.mtime === first ? 'kept' : 'clock';
}

/**
 * Whether the file is still the one that was seen, as far as the server tells: it has the same size, and the same time if
 * the server keeps times.
 *
 * @returns its size now if it is not; none if the file is gone
 */
export async function findChange(
  remote: Pick<RemoteCalls, 'stat'>,
  path: string,
  seen: Pick<RemoteAttributes, 'size' | 'mtime'>,
): Promise<{ readonly size: number | undefined } | undefined> {
  const now = await remote.stat(path);
  if (now?.size !== seen.size) return { size: now?.size };
  if (now?.mtime === undefined || seen.mtime === undefined || now.mtime === seen.mtime) return undefined;
  if ((await examineTime(remote, path)) === 'kept') return { size: now.size };
  const later = await remote.stat(path);
  return later?.size === seen.size ? undefined : { size: later?.size };
}

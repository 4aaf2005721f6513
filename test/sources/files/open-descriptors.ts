import { existsSync } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';

/** Only on systems that expose it. */
export const canCountDescriptors = existsSync('/proc/self/fd');

/** How many descriptors this process has open on a file, or on files in a folder. */
export async function countDescriptors(path: string): Promise<number> {
  const targets = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return targets.filter((target) => target === path || target.startsWith(`${path}/`)).length;
}

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface SmallDisk {
  /** From now on there is room. */
  grow(): void;
}

/** What it takes to have a small disk of one's own, and is missing here. */
export const smallDiskNeeds = canMount() ? undefined : 'needs root and the right to mount a tmpfs';

/** Puts a disk of so many kilobytes in the place of that folder, for the length of the test. */
export function mountSmallDisk(folder: string, kilobytes: number, uid = 0): SmallDisk {
  mount(folder, `size=${kilobytes}k,mode=755,uid=${uid},gid=${uid}`);
  // Lazily: somebody may have a file open there still.
  onTestFinished(() => unmount(folder));
  return { grow: () => mount(folder, 'remount,size=16m') };
}

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    mount(folder, 'size=4k');
    unmount(folder);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(folder);
  }
}

function mount(folder: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
}

function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder]);
}

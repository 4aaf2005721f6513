import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Mounts a FUSE, takes none of the questions that are put to it, and goes with its standard input. */
const program = `
import ctypes, os, sys
device = os.open('/dev/fuse', os.O_RDWR)
options = f'fd={device},rootmode=40000,user_id=0,group_id=0'.encode()
if ctypes.CDLL(None, use_errno=True).mount(b'hung', sys.argv[1].encode(), b'fuse', 0, options) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
print('mounted', flush=True)
sys.stdin.read()
`;

/** What it takes to have a disk that hangs, and is missing here. */
export const hungDiskNeeds = canMount() ? undefined : 'needs python3, root and the right to mount a FUSE';

/** Puts a disk in the place of that folder that answers nothing, as a server of files does that is gone. */
export async function mountHungDisk(folder: string): Promise<void> {
  const holder = spawn('python3', ['-c', program, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(holder, 'exit');
  onTestFinished(async () => {
    holder.stdin.end();
    await ended;
    unmount(folder);
  });
  await once(holder.stdout, 'data');
}

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'hung-disk-'));
  try {
    execFileSync('python3', ['-c', program, folder], { input: '', stdio: ['pipe', 'ignore', 'ignore'] });
    unmount(folder);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(folder);
  }
}

function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder]);
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DayFolder } from './day-folder.js';

/** The kernel's own measurement of the process, including program and libraries, written when it ends. (Linux.) */
const account = `
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
if (isMainThread) process.on('exit', () => {
  writeFileSync(process.env.PEAK_MEMORY_FILE, /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
});`;

/**
 * Runs a day as `runDay` does, in a process with this heap limit in megabytes. Returns how it ended and its peak
 * resident memory in megabytes.
 *
 * @throws Error when the process was killed
 */
export async function runMeasuredDay(folder: DayFolder, { heapMb }: { readonly heapMb: number }) {
  const file = join(folder.path, 'peak-memory');
  const counting = `--import=data:text/javascript,${encodeURIComponent(account)}`;
  const result = await folder.runDay({
    asProcess: true,
    env: { NODE_OPTIONS: `--max-old-space-size=${heapMb} ${counting}`, PEAK_MEMORY_FILE: file },
  });
  const kilobytes = await readFile(file, 'utf8').catch(() => undefined);
  if (kilobytes === undefined) throw new Error(`it ended without an account: ${result.stderr}`);
  return { result, peakMb: Number(kilobytes) / 1024 };
}

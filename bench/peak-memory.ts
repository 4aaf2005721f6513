import { spawn } from 'node:child_process';
import { once } from 'node:events';

// The command's exit hands over its own peak: Linux and macOS keep it for the process.
const measure = `process.on('exit', () => process.send(process.resourceUsage().maxRSS / 1024));`;

/** Runs the built command and answers its exit code and the peak of its resident memory, in MB. */
export async function runMeasured(
  args: readonly string[],
): Promise<{ readonly exitCode: number; readonly peakMb: number }> {
  const child = spawn(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(measure)}`,
      new URL('../dist/jobs/hotel-review.js', import.meta.url).pathname,
      ...args,
    ],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  const [[peakMb], [exitCode]] = await Promise.all([once(child, 'message'), once(child, 'exit')]);
  return { exitCode: Number(exitCode), peakMb: Number(peakMb) };
}

/** Says how the peak stands to the limit, and answers whether it holds. */
export function judgePeak(what: string, peakMb: number, limitMb: number): boolean {
  console.log(`\npeak resident memory for ${what}: ${peakMb.toFixed(0)} MB (limit ${limitMb} MB)`);
  return peakMb <= limitMb;
}

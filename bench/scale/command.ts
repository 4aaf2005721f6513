import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));

/**
 * Reports the command's resource use on exit. The peak is the kernel's figure for this program only: the usual figure
 * includes the memory of the process that started it.
 */
const account = `
import { readFileSync } from 'node:fs';
process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const peakKb = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1];
  process.send({ cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMb: peakKb / 1024 });
});`;

/** How much of a command's output an error quotes. */
const shownOfOutput = 10_000;

export interface Spent {
  readonly exitCode: number | null;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

export interface MeasuredCommand {
  readonly pid: number;
  readonly ended: Promise<Spent>;
  /** Waits until it has written that text. @throws Error when it exits before */
  wrote(word: string): Promise<void>;
  /** Stops it with a signal, as an operator does. */
  stop(): void;
  /** Kills it, without a report. */
  kill(): void;
}

/** Starts the built `hotel-review` in its own process. */
export function startMeasured(args: readonly string[], cwd: string): MeasuredCommand {
  const started = performance.now();
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(account)}`, program, ...args],
    { cwd, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  );
  let lastOutput = '';
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding('utf8').on('data', (text: string) => {
      lastOutput = (lastOutput + text).slice(-shownOfOutput);
    });
  }
  let spent = { cpuSeconds: Number.NaN, peakMb: Number.NaN };
  child.on('message', (message) => {
    spent = message as typeof spent;
  });
  let hasEnded = false;
  const ended = once(child, 'close').then(([exitCode]): Spent => {
    hasEnded = true;
    const wallSeconds = (performance.now() - started) / 1000;
    if (exitCode !== 0 && exitCode !== null)
      throw new Error(`${args.join(' ')} ended with ${exitCode}: ${lastOutput}`);
    return { exitCode, wallSeconds, ...spent };
  });
  ended.catch(() => {});
  return {
    pid: child.pid ?? 0,
    ended,
    async wrote(word) {
      while (!lastOutput.includes(word)) {
        if (hasEnded) throw new Error(`it ended without writing ${word}, but: ${lastOutput}`);
        await pause(5);
      }
    },
    stop: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
  };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));

/**
 * The command's exit hands over what it took. The peak is the kernel's of this program alone: what a process is charged
 * with otherwise includes the memory of the one that started it.
 */
const account = `
import { readFileSync } from 'node:fs';
process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const peakKb = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1];
  process.send({ cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMb: peakKb / 1024 });
});`;

/** The end of what a command says, for its failure. */
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
  /** Waits until it has written that word. @throws Error when it ends before */
  wrote(word: string): Promise<void>;
  /** As an operator does. */
  stop(): void;
  /** At once, without an account. */
  kill(): void;
}

/** Starts the built `hotel-review` in a process of its own. */
export function startMeasured(args: readonly string[], cwd: string): MeasuredCommand {
  const started = performance.now();
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(account)}`, program, ...args],
    { cwd, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  );
  let told = '';
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding('utf8').on('data', (text: string) => {
      told = (told + text).slice(-shownOfOutput);
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
      throw new Error(`${args.join(' ')} ended with ${exitCode}: ${told}`);
    return { exitCode, wallSeconds, ...spent };
  });
  ended.catch(() => {});
  return {
    pid: child.pid ?? 0,
    ended,
    async wrote(word) {
      while (!told.includes(word)) {
        if (hasEnded) throw new Error(`it ended without writing ${word}, but: ${told}`);
        await pause(5);
      }
    },
    stop: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
  };
}

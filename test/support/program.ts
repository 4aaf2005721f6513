import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { vi } from 'vitest';
import { patienceMs } from './patience.js';

/** How a program ended and what it wrote. */
export interface ProgramResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that was started and may still be running. */
export interface RunningProgram {
  readonly pid: number;
  readonly hasEnded: boolean;
  readonly ended: Promise<ProgramResult>;
  /** What it wrote to standard output so far. */
  readonly stdout: string;
  /** What it wrote to standard error so far. */
  readonly stderr: string;
  kill(signal: NodeJS.Signals): void;
  /** Waits until its output satisfies this. @throws Error when it ends first */
  until(condition: (written: { readonly stdout: string; readonly stderr: string }) => boolean): Promise<void>;
}

export interface ProgramOptions {
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: NodeJS.ProcessEnv;
}

/** Starts any program, ours or another, in its own process without a terminal. */
export function startProgram(
  program: string,
  args: readonly string[],
  { cwd, env }: ProgramOptions,
): RunningProgram {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  let hasEnded = false;
  const ended = once(child, 'close').then(([exitCode, signal]): ProgramResult => {
    hasEnded = true;
    return { exitCode, signal, ...written };
  });
  return {
    pid: child.pid ?? 0,
    ended,
    get hasEnded() {
      return hasEnded;
    },
    get stdout() {
      return written.stdout;
    },
    get stderr() {
      return written.stderr;
    },
    kill(signal) {
      child.kill(signal);
    },
    async until(condition) {
      await vi.waitUntil(() => condition(written) || hasEnded, { timeout: patienceMs, interval: 5 });
      if (!condition(written))
        throw new Error(`${program} ended, having written: ${written.stdout}\n${written.stderr}`);
    },
  };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';
import { compiled } from '../support/compiled.js';
import { patienceMs } from '../support/patience.js';

/** Another process, which runs a script and then stays alive. */
export interface Child {
  /** The lines printed so far. */
  readonly lines: readonly string[];
  /** Waits until it prints that line. @throws Error if it ends without printing it */
  printed(line: string): Promise<void>;
  kill(): Promise<void>;
  freeze(): Promise<void>;
  /** Resumes it, with a signal pending. */
  wake(signal: NodeJS.Signals): void;
}

const built = `${compiled}src/ledger/sqlite/`;

/** Starts a module that finds the compiled sources of the SQLite ledger under `built`. */
export function startChild(script: string): Child {
  const source = `const built = ${JSON.stringify(built)};\n${script}\nsetInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return {
    lines,
    async printed(line) {
      await vi.waitUntil(() => lines.includes(line) || hasEnded(child), { timeout: patienceMs, interval: 5 });
      if (!lines.includes(line))
        throw new Error(`expected the child to print ${line}, got: ${lines.join(', ')}`);
    },
    async kill() {
      if (hasEnded(child)) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    async freeze() {
      child.kill('SIGSTOP');
      await vi.waitUntil(() => stateOf(child) === 'T', { timeout: patienceMs, interval: 5 });
    },
    wake(signal) {
      child.kill(signal);
      child.kill('SIGCONT');
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** The kernel's letter for the state of a process, `T` when stopped. */
function stateOf({ pid }: ChildProcess): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.charAt(0);
}

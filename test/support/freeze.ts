import { readFileSync } from 'node:fs';
import { vi } from 'vitest';
import type { RunningCommand } from './command.js';

/** Stops a process where it stands, as a debugger or a suspended machine does; SIGCONT wakes it. */
export async function freeze(command: RunningCommand): Promise<void> {
  command.kill('SIGSTOP');
  await vi.waitUntil(() => stateOf(command) === 'T', { timeout: 30_000, interval: 1 });
}

/** The kernel's letter for the state of a process, `T` when stopped. (Linux.) */
function stateOf({ pid }: RunningCommand): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.charAt(0);
}

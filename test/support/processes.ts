import { readFileSync } from 'node:fs';
import { vi } from 'vitest';
import type { CommandResult, RunningCommand } from './command.js';
import { patienceMs } from './patience.js';

export interface StepAttempt {
  readonly runId: string;
  readonly step: string;
  /** Counted from 1. */
  readonly attempt: number;
}

/** The processes that work on the days of one folder: a `run` and any workers beside it. */
export interface DayProcesses {
  /** The current workers. */
  readonly workers: readonly RunningCommand[];
  /** Starts workers to replace those that have ended; undefined when there is none to wait for. */
  gather(env?: NodeJS.ProcessEnv): Promise<unknown> | undefined;
  /** Uses this `run` as the one that the workers work beside. */
  lead(run: RunningCommand): void;
  /** Stops the workers, as an operator does after changing their configuration. */
  dismiss(): Promise<void>;
  /**
   * Returns the process that performs this attempt of a step; a `run` must be traced. @throws Error when it does not
   * start
   */
  performerOf(attempt: StepAttempt): Promise<RunningCommand>;
  /** Whether this process performs it. */
  isPerformedBy(command: RunningCommand, attempt: StepAttempt): boolean;
  /** Sends the signal to all of them. */
  signal(signal: NodeJS.Signals): void;
  /** Waits until all of them have ended; returns the outcome of the `run`. */
  ended(): Promise<CommandResult>;
  /** The `run` that continues without that process: itself, or a replacement. */
  runBeside(frozen: RunningCommand, runAgain: () => RunningCommand): RunningCommand;
  /** Waits for the day's end, whichever of them is left: the `run` itself or a replacement. */
  dayEnded(runAgain: () => Promise<CommandResult>): Promise<CommandResult>;
}

export function createDayProcesses({
  size,
  startWorker,
}: {
  readonly size: number;
  readonly startWorker: (env: NodeJS.ProcessEnv) => RunningCommand;
}): DayProcesses {
  let workers: RunningCommand[] = [];
  let run: RunningCommand | undefined;

  function leader(): RunningCommand {
    if (!run) throw new Error('no run was started');
    return run;
  }

  /** A worker logs each step that it claims, and so does a traced `run`. */
  function isPerformedBy(command: RunningCommand, { runId, step, attempt }: StepAttempt): boolean {
    if (size === 0) return true;
    const words = ['"step claimed"', `"run":"${runId}"`, `"step":"${step}"`, `"attempt":${attempt},`];
    return command.stderr.split('\n').some((line) => words.every((word) => line.includes(word)));
  }

  async function askToStop(command: RunningCommand): Promise<void> {
    command.kill('SIGTERM');
    await command.ended;
  }

  return {
    get workers() {
      return workers;
    },
    gather(env = {}) {
      workers = workers.filter(({ hasEnded }) => !hasEnded);
      if (workers.length === size) return undefined;
      const joining = Array.from({ length: size - workers.length }, () => startWorker(env));
      workers = [...workers, ...joining];
      return Promise.allSettled(joining.map((worker) => worker.wrote('"working"')));
    },
    lead(command) {
      run = command;
    },
    async dismiss() {
      const leaving = workers;
      workers = [];
      await Promise.all(leaving.map(askToStop));
    },
    performerOf: (attempt) =>
      vi.waitUntil(() => [leader(), ...workers].find((command) => isPerformedBy(command, attempt)), {
        timeout: patienceMs,
        interval: 2,
      }),
    isPerformedBy,
    signal(signal) {
      for (const command of [leader(), ...workers]) command.kill(signal);
    },
    async ended() {
      const [result] = await Promise.all([leader().ended, ...workers.map(({ ended }) => ended)]);
      return result;
    },
    runBeside: (frozen, runAgain) => (frozen === leader() || leader().hasEnded ? runAgain() : leader()),
    async dayEnded(runAgain) {
      const wasKilled = leader().hasEnded && (await leader().ended).signal !== null;
      return wasKilled ? runAgain() : leader().ended;
    },
  };
}

/** Freezes a process, as a debugger or a suspended machine does; SIGCONT thaws it. */
export async function freeze(command: RunningCommand): Promise<void> {
  command.kill('SIGSTOP');
  await vi.waitUntil(() => stateOf(command) === 'T', { timeout: patienceMs, interval: 1 });
}

/** The kernel's letter for the state of a process; `T` is stopped. (Linux.) */
function stateOf({ pid }: RunningCommand): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.charAt(0);
}

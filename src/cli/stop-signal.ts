import { StoppedError } from '../async/stopped-error.js';
import { exitCode } from './exit-code.js';

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

/** What is needed of the process. */
interface Process {
  on(signal: 'SIGINT' | 'SIGTERM', listener: (name: NodeJS.Signals) => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', listener: (name: NodeJS.Signals) => void): unknown;
  exit(code: number): void;
}

interface StopListener {
  /** Aborts when the process was asked to stop. */
  readonly signal: AbortSignal;
  /** Lets the process end by itself. */
  ignore(): void;
}

/** One signal for the whole process: Ctrl-C and SIGTERM stop cleanly, a second one at once. */
export function listenForStop(process: Process, errors: NodeJS.WritableStream): StopListener {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) return process.exit(exitCode.failed);
    errors.write(`\n${name}: stopping; once more stops at once\n`);
    controller.abort(new StoppedError(name));
  };
  for (const name of stopSignals) process.on(name, stop);
  return {
    signal: controller.signal,
    ignore(): void {
      for (const name of stopSignals) process.off(name, stop);
    },
  };
}

import type { Writable } from 'node:stream';
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
    errors.write(`\n${name}: stopping; send the signal again to stop at once\n`);
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

/**
 * Lets a command end as usual when whoever read its output has gone, as `head` does: what is written then is lost, and
 * nobody misses it.
 */
export function ignoreClosedPipe(stream: NodeJS.WritableStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** Long enough for what ends by itself. */
const graceMs = 1_000;

/**
 * Ends the process when its work is done and something keeps it alive that is not ours, such as a connection that a
 * bookings module left open: tomorrow's run would find today's still there. What was written leaves before that.
 *
 * @param exit ends the process with the code that is set
 */
export function leaveOnceWritten(
  streams: readonly Pick<Writable, 'writableLength'>[],
  exit: () => void,
): void {
  // It keeps nothing alive itself.
  setInterval(() => {
    if (streams.every(({ writableLength }) => writableLength === 0)) exit();
  }, graceMs).unref();
}

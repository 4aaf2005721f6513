import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { print } from './foreign-text.js';
import { StoppedError } from './safe-error.js';

const stopSignals = ['SIGINT', 'SIGTERM'] as const;

/** The part of the process that this uses. */
interface Process {
  on(signal: 'SIGINT' | 'SIGTERM', listener: (name: NodeJS.Signals) => void): unknown;
  exit(code: number): void;
}

interface StopListener {
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
  /** Aborts right before a second signal ends the process: its listeners can write, but not wait. */
  readonly halted: AbortSignal;
  /** The command has ended with this code: from now on a signal ends the process with the same code, at once. */
  end(code: number): void;
}

/**
 * One AbortSignal for the whole process: Ctrl-C and SIGTERM stop it cleanly, a second signal at once.
 *
 * @param haltedCode what the process exits with then
 */
export function listenForStop(
  process: Process,
  errors: NodeJS.WritableStream,
  haltedCode: number,
): StopListener {
  const controller = new AbortController();
  const halt = new AbortController();
  let ended: number | undefined;
  const stop = (name: NodeJS.Signals) => {
    if (ended !== undefined) return process.exit(ended);
    if (controller.signal.aborted) {
      halt.abort(new StoppedError(name));
      return process.exit(haltedCode);
    }
    print(errors, `\n${name}: stopping; send the signal again to stop at once\n`);
    controller.abort(new StoppedError(name));
  };
  for (const name of stopSignals) process.on(name, stop);
  return {
    signal: controller.signal,
    halted: halt.signal,
    end(code): void {
      ended = code;
    },
  };
}

/**
 * Lets a command do its work although its output can't be written, as when the disk is full. If the reader is gone (as with `head`),
 * nobody needs the rest.
 *
 * @returns why something is lost that somebody may need, once it is known; undefined for nothing
 */
export function outliveOutput(stream: NodeJS.WritableStream): () => Promise<string | undefined> {
  let lost: string | undefined;
  stream.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') lost ??= code;
  });
  return async () => {
    // A stream reports what it could not write soon after.
    await setImmediate();
    return lost;
  };
}

/** Long enough for everything that ends by itself. */
const graceMs = 1_000;

/**
 * Ends the process once its work is done, even if something keeps it alive, such as a connection that a bookings module
 * left open. Otherwise tomorrow's run would find today's process still running. Waits until all output has been written.
 *
 * @param exit ends the process with `process.exitCode`
 */
export function exitOnceWritten(streams: readonly Writable[], exit: () => void): void {
  // Unreferenced, so that the timer itself keeps nothing alive.
  setInterval(() => {
    if (streams.every(({ writableLength }) => writableLength === 0)) exit();
  }, graceMs).unref();
}

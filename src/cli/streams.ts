import type { Writable } from 'node:stream';

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

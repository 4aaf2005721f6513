import type { Writable } from 'node:stream';

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

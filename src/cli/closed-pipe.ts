/**
 * Lets a command end as usual when whoever read its output has gone, as `head` does: what is written then is lost, and
 * nobody misses it.
 */
export function ignoreClosedPipe(stream: NodeJS.WritableStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

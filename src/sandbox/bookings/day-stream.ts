import { once } from 'node:events';
import type { DayText } from './day-text.js';

/**
 * Writes a made-up day to a stream that stays open, as fast as it takes it.
 *
 * @returns false when the reader went away before the end, as `head` does
 * @throws the signal's reason when that aborts, and the stream's error
 */
export async function streamDay(
  { chunks }: DayText,
  output: NodeJS.WritableStream,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<boolean> {
  let failure: unknown;
  // It stays: a standard output without a reader says so once for every chunk that it was given.
  output.on('error', (error) => {
    failure ??= error;
  });
  try {
    for await (const chunk of chunks) {
      if (failure !== undefined) throw failure;
      if (!output.write(chunk)) await once(output, 'drain', signal && { signal });
    }
    await new Promise<void>((resolve, reject) =>
      output.write('', (error) => (error ? reject(error) : resolve())),
    );
    return true;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return false;
    throw error;
  }
}

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { link, lstat, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { codeOf } from '../../base/safe-error.js';
import { type DayCounts, type DayFormat, type DayText, dayFormats, renderDay } from './day-text.js';
import type { MadeDay } from './made-bookings.js';

const compressed = '.gz';

export class NameTakenError extends Error {
  override readonly name = 'NameTakenError';
  constructor(path: string) {
    super(`${path} already exists`);
  }
}

/** The format that a file's extension asks for; undefined for an unknown one. */
export function formatOfName(path: string): DayFormat | undefined {
  return dayFormats.find((format) => path.endsWith(`.${format}`) || path.endsWith(`.${format}${compressed}`));
}

/**
 * Writes a made-up day into a new file of mode 0600, compressed with gzip where its name ends in .gz. The file appears
 * under its name only when it is complete; an existing file is never replaced.
 *
 * @throws NameTakenError, the signal's reason when it aborts, and system errors
 */
export async function writeDayFile(
  path: string,
  day: MadeDay,
  format: DayFormat,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<DayCounts> {
  const text = renderDay(day, format, { signal });
  if (await isTaken(path)) throw new NameTakenError(path);
  const temporary = join(dirname(path), `.${randomUUID()}.partial`);
  const file = await open(temporary, 'wx', 0o600);
  try {
    const stream = file.createWriteStream();
    if (path.endsWith(compressed)) await pipeline(text.chunks, createGzip(), stream);
    else await pipeline(text.chunks, stream);
    signal?.throwIfAborted();
    await publish(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  return text.counts();
}

/** True for a dangling link as well. */
async function isTaken(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Links instead of renaming: a link fails if the name was taken meanwhile, a rename would overwrite the file. */
async function publish(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? new NameTakenError(path) : error;
  }
}

/**
 * Writes a made-up day to a stream, with back-pressure, and leaves the stream open.
 *
 * @returns false when the reader left before the end, as `head` does
 * @throws the signal's reason when it aborts, and the stream's error
 */
export async function streamDay(
  { chunks }: DayText,
  output: NodeJS.WritableStream,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<boolean> {
  let failure: unknown;
  // Never removed: standard output without a reader emits an error for every chunk it was given.
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
    if (codeOf(error) === 'EPIPE') return false;
    throw error;
  }
}

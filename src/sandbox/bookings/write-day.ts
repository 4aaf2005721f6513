import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { link, lstat, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type DayCounts, type DayFormat, type DayText, dayFormats, renderDay } from './day-text.js';
import type { MadeDay } from './made-bookings.js';

const compressed = '.gz';

/** There is a file of that name already. */
export class NameTakenError extends Error {
  override readonly name = 'NameTakenError';
  constructor(path: string) {
    super(`${path} exists already`);
  }
}

/** The format that a file's name asks for; undefined where it ends like none of them. */
export function formatOfName(path: string): DayFormat | undefined {
  return dayFormats.find((format) => path.endsWith(`.${format}`) || path.endsWith(`.${format}${compressed}`));
}

/**
 * Writes a made-up day into a new file of mode 0600, compressed with gzip where its name ends with .gz. The file stands
 * under its name only when it is whole, and a file that is there already is left alone.
 *
 * @throws NameTakenError, RangeError for a day that can't be made up, the signal's reason when that aborts, and
 * the system's errors.
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

/** A dangling link is somebody's too. */
async function isTaken(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** By a link, for it fails where the name was taken meanwhile; a rename would write over it. */
async function publish(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? new NameTakenError(path) : error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

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

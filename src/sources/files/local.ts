import type { Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { SourceError } from '../../review/source.js';
import { codeOf } from '../../text/safe-error.js';
import { unpackBlocks } from './blocks.js';
import type { DayFile, FileBlock, FileReading } from './day-file.js';
import { parsePathTemplate } from './path-template.js';

/**
 * The day's file on this machine.
 *
 * @param path absolute, with `{day}` or `{day:ddMMyyyy}` (any date-fns pattern) as a placeholder for the day
 * @throws RangeError for an invalid path template
 */
export function createLocalDayFile(path: string): DayFile {
  const locate = parsePathTemplate(path);
  return {
    locate,
    measure: (day) => measureLocalFile(locate(day)),
    read: (day, reading) => readLocalFile(locate(day), reading),
  };
}

/**
 * Streams a file's bytes, decompressed if it is gzip. Only regular files are opened: nothing else can be read twice, and
 * opening a FIFO blocks until it has a writer, which no signal can interrupt.
 *
 * @throws SourceError `missing`, `unreadable`, or `truncated` for damaged gzip data and for a file that changed while it
 *   was read; the signal's reason when it aborts
 */
async function* readLocalFile(
  path: string,
  { blockBytes, signal }: FileReading,
): AsyncGenerator<FileBlock, void, undefined> {
  signal.throwIfAborted();
  const handle = await openFile(path).catch((error: unknown) => {
    throw explainFileError(error, path);
  });
  try {
    const { size } = await handle.stat();
    const file = handle.createReadStream({ start: 0, highWaterMark: blockBytes, signal });
    const progress = () => ({ done: file.bytesRead, total: size });
    yield* unpackBlocks(file as AsyncIterable<Buffer>, { place: path, blockBytes, signal, progress });
    if (file.bytesRead !== size) {
      throw new SourceError('truncated', `${path} changed while it was read: is it still being written?`);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw explainFileError(error, path);
  } finally {
    await handle.close();
  }
}

async function measureLocalFile(path: string): Promise<number | undefined> {
  // A missing file is reported when it is read.
  const stats = await stat(path).catch(() => undefined);
  return stats?.size;
}

async function openFile(path: string): Promise<FileHandle> {
  const stats = await stat(path);
  if (!stats.isFile()) throw new SourceError('unreadable', `${path} is ${nameKind(stats)}, expected a file`);
  return open(path);
}

function nameKind(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a FIFO';
  return stats.isSocket() ? 'a socket' : 'a device';
}

function explainFileError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === undefined || error instanceof SourceError) return error;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new SourceError('missing', `there is no file ${path}`, { cause: error });
  }
  return new SourceError('unreadable', `${path} can't be read (${code})`, { cause: error });
}

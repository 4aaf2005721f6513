import type { Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { SourceError } from './source.js';

export interface FileBlock {
  readonly bytes: Buffer;
  /** Bytes of the file itself, compressed or not. */
  readonly progress: { readonly done: number; readonly total: number };
}

export interface FileReading {
  /** How many bytes to read, and to decompress, at a time. */
  readonly blockBytes: number;
  readonly signal: AbortSignal;
}

/** The least that zlib accepts as the size of its output blocks. */
const leastGunzipBlock = 64;

/**
 * Streams a file's bytes, decompressed when the file begins as gzip does, whatever it is called. Holds the file open
 * no longer than it is read, also when the reader walks away or the signal aborts. What is no file is not opened: it can't
 * be read a second time, and to open a FIFO waits for its writer where no signal reaches it.
 *
 * @throws SourceError `missing`, `unreadable`, or `truncated` for a broken gzip and for a file that changed under the
 *   reading; the signal's reason when it aborts.
 */
export async function* readFileBlocks(
  path: string,
  { blockBytes, signal }: FileReading,
): AsyncGenerator<FileBlock, void, undefined> {
  signal.throwIfAborted();
  const handle = await openFile(path).catch((error: unknown) => {
    throw explainFileError(error, path);
  });
  try {
    const { size } = await handle.stat();
    const compressed = await beginsAsGzip(handle);
    const file = handle.createReadStream({ start: 0, highWaterMark: blockBytes, signal });
    const bytes = compressed
      ? pipeline(file, createGunzip({ chunkSize: Math.max(blockBytes, leastGunzipBlock) }), () => {
          // The iteration below meets the same error.
        })
      : file;
    for await (const block of bytes as AsyncIterable<Buffer>) {
      yield { bytes: block, progress: { done: file.bytesRead, total: size } };
      // The streams were told too, but the decompressing one may have blocks in hand.
      signal.throwIfAborted();
    }
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

/** The file's size, compressed or not; undefined where there is no file: the reading says so. */
export async function measureFile(path: string): Promise<number | undefined> {
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

async function beginsAsGzip(handle: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
}

function explainFileError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof SourceError) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code === undefined) return error;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new SourceError('missing', `there is no file ${path}`, { cause: error });
  }
  if (code.startsWith('Z_')) {
    return new SourceError('truncated', `${path} is a gzip file that is cut off or damaged (${code})`, {
      cause: error,
    });
  }
  return new SourceError('unreadable', `${path} can't be read (${code})`, { cause: error });
}

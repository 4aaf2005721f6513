import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { formatBytes, formatCount } from '../../base/format.js';
import { findChange, mayBeFile, type RemoteAttributes, type RemoteCalls, sizeOf } from './remote-calls.js';
import {
  type ByteRange,
  type DownloadOptions,
  type FileConverter,
  type LocalFile,
  SftpError,
  type SizeLimit,
} from './sftp.js';

/** Creates the file: never uses one that somebody else put there, or follows a link. */
const newFile = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;
/** Creates or continues the file, in a folder that nobody else writes to. */
const resumedFile = constants.O_CREAT | constants.O_NOFOLLOW | constants.O_WRONLY;

/**
 * Downloads to the local name plus `.part`, syncs it to disk and renames it. Compares the remote size and time before and
 * after. A resumable download has them in its name, so that it continues only with the same file; without a time, it starts
 * over.
 *
 * @returns the server's description of the file
 */
export async function downloadFile(
  remote: RemoteCalls,
  path: string,
  local: LocalFile,
  { limit, onProgress, onBytes, resumes: isResumable = false }: DownloadOptions,
): Promise<RemoteAttributes> {
  const localPath = typeof local === 'string' ? local : local.path;
  const converter = typeof local === 'string' ? undefined : local.convert();
  if (converter && isResumable) throw new RangeError("a converted download can't be resumed");
  const before = await find(remote, path);
  const size = sizeOf(before, path);
  expectSize(path, size, limit);
  const resumes = isResumable && before.mtime !== undefined;
  const part = resumes ? `${localPath}.${size}-${before.mtime}.part` : `${localPath}.part`;
  if (resumes) await removeOtherParts(localPath, part);
  else await rm(part, { force: true });
  const file = await open(part, resumes ? resumedFile : newFile, 0o600);
  try {
    try {
      const from = await findResumption(file, size);
      await expectSpace(path, dirname(localPath), size - from);
      const write = createWriter(file, from, converter);
      await readRemoteFile(remote, path, { from, to: size }, async (piece, position) => {
        await write.take(piece);
        await onBytes?.(piece);
        onProgress?.(position + piece.length, size);
      });
      await write.end();
      await file.sync();
    } finally {
      await file.close();
    }
    const change = await findChange(remote, path, before);
    if (change) {
      throw new SftpError(
        'retryable',
        'changed-while-reading',
        `download ${path}: the file changed meanwhile (${size} bytes, now ${change.size ?? 'none'})`,
      );
    }
    await rename(part, localPath);
  } catch (error) {
    const mayGoOn = resumes && !(error instanceof SftpError && error.code === 'changed-while-reading');
    if (!mayGoOn) await rm(part, { force: true });
    throw error;
  }
  return before;
}

async function find(remote: RemoteCalls, path: string): Promise<RemoteAttributes> {
  const found = await remote.stat(path);
  if (found && mayBeFile(found)) return found;
  throw new SftpError('retryable', 'no-such-file', `download ${path}: no such file on the server`);
}

/** Removes leftovers of downloads of other files to that local path. */
async function removeOtherParts(localPath: string, part: string): Promise<void> {
  const folder = dirname(localPath);
  const prefix = `${basename(localPath)}.`;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (path !== part && name.startsWith(prefix) && name.endsWith('.part')) await rm(path, { force: true });
  }
}

/** How much of the file is there already. Pieces are written in order, so everything before its end is. */
async function findResumption(file: FileHandle, size: number): Promise<number> {
  const existing = await file.stat();
  if (existing.size <= size) return existing.size;
  await file.truncate(0);
  return 0;
}

/** Writes pieces one after the other. */
function createWriter(file: FileHandle, from: number, converter: FileConverter | undefined) {
  let position = from;
  const write = async (bytes: Uint8Array) => {
    await writeWhole(file, bytes, position);
    position += bytes.length;
  };
  return {
    async take(piece: Uint8Array): Promise<void> {
      for (const bytes of converter ? converter.take(piece) : [piece]) await write(bytes);
    },
    end: async () => converter && write(converter.end()),
  };
}

/** A write may accept fewer bytes than given, for example when the disk is nearly full. */
async function writeWhole(file: FileHandle, piece: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < piece.length; ) {
    const { bytesWritten } = await file.write(piece, written, piece.length - written, position + written);
    written += bytesWritten;
  }
}

/** @throws SftpError before anything of a file is read that is larger than allowed */
function expectSize(path: string, size: number, { bytes, advice }: SizeLimit): void {
  if (size <= bytes) return;
  throw new SftpError(
    'excessive',
    'too-large',
    `download ${path}: it has ${formatCount(size)} bytes, and at most ${formatCount(bytes)} are accepted. ${advice}`,
  );
}

/** Stays free on the local disk, which others write to as well: this much, but no more than a share of a small disk. */
const spareBytes = 64 * 1024 * 1024;
const spareShare = 0.05;

/**
 * How much must be freed before a file fits; 0 if it fits.
 *
 * @param disk its size and what is free, in bytes; some file systems don't say, which is 0
 */
export function findMissingSpace(
  bytes: number,
  disk: { readonly size: number; readonly free: number },
): { readonly missing: number; readonly spare: number } {
  const spare = Math.min(spareBytes, Math.floor(disk.size * spareShare));
  return { missing: disk.size === 0 ? 0 : Math.max(0, bytes + spare - disk.free), spare };
}

/** @throws SftpError if the disk of a local folder has no room for that many bytes; the system's error */
async function expectSpace(path: string, folder: string, bytes: number): Promise<void> {
  const { blocks, bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const { missing, spare } = findMissingSpace(bytes, { size: blocks * bsize, free });
  if (missing === 0) return;
  throw new SftpError(
    'retryable',
    'no-local-space',
    `${path} is on the server, but its ${formatBytes(bytes)} do not fit on the disk of ${folder}, where ${formatBytes(free)} are free and ${formatBytes(spare)} must stay free. Free ${formatBytes(roundUp(missing))} there.`,
  );
}

/** To a tenth of a megabyte, as it is written. */
function roundUp(bytes: number): number {
  return Math.ceil(bytes / 1e5) * 1e5;
}

/**
 * At most 8 MB in flight. A server that answers a request with less, often 32 KB, is asked for the rest. Smaller requests
 * take twice the processor time.
 */
const concurrency = 64;
const chunkSize = 131_072;

/**
 * Reads bytes of a remote file with many concurrent requests, and passes the pieces on in order. A piece is valid only
 * until the promise of `take` settles.
 *
 * (ssh2's `fastGet` never ends when the file becomes shorter while it reads.)
 *
 * @throws SftpError retryable `changed-while-reading` when the file ends earlier
 */
async function readRemoteFile(
  remote: RemoteCalls,
  path: string,
  { from, to }: ByteRange,
  take: (piece: Buffer, position: number) => Promise<void>,
): Promise<void> {
  const handle = await remote.open(path);
  const sequencer = createSequencer(from);
  let next = from;

  const readChunks = async () => {
    const buffer = Buffer.allocUnsafe(Math.min(chunkSize, to - from));
    while (next < to) {
      let position = next;
      next = Math.min(to, position + chunkSize);
      const end = next;
      while (position < end) {
        const length = await remote.read(handle, buffer, end - position, position);
        if (length === 0) {
          throw new SftpError(
            'retryable',
            'changed-while-reading',
            `read ${path}: the file became shorter meanwhile`,
          );
        }
        if (length > end - position) {
          const message = `read ${path}: the server sent more bytes than were requested`;
          throw new SftpError('retryable', 'server-failure', message);
        }
        if (!(await sequencer.turn(position))) return;
        await take(buffer.subarray(0, length), position);
        position += length;
        sequencer.advance(position);
      }
    }
  };

  const readers = Array.from({ length: Math.min(concurrency, Math.ceil((to - from) / chunkSize)) }, () =>
    readChunks().catch((error: unknown) => {
      next = to;
      sequencer.cancel();
      throw error;
    }),
  );
  // All must end before a failure is reported: none may pass on pieces afterwards.
  const outcomes = await Promise.allSettled(readers);
  await remote.close(handle).catch(() => {});
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Like `readRemoteFile`, into one buffer. */
export async function readRemoteRange(remote: RemoteCalls, path: string, range: ByteRange): Promise<Buffer> {
  const bytes = Buffer.alloc(range.to - range.from);
  await readRemoteFile(remote, path, range, async (piece, position) => {
    piece.copy(bytes, position - range.from);
  });
  return bytes;
}

/** Lets pieces that arrive in any order pass in the order of their positions. */
function createSequencer(from: number) {
  let reached = from;
  let isCancelled = false;
  const waiting = new Map<number, () => void>();
  return {
    /** Resolves at the position's turn; to false once cancelled. */
    async turn(position: number): Promise<boolean> {
      if (position !== reached && !isCancelled)
        await new Promise<void>((resolve) => waiting.set(position, resolve));
      return !isCancelled;
    },
    advance(position: number): void {
      reached = position;
      waiting.get(position)?.();
      waiting.delete(position);
    },
    cancel(): void {
      isCancelled = true;
      for (const pass of waiting.values()) pass();
    },
  };
}

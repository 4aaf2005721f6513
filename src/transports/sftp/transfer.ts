import { constants, createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { measure, toFixedBlocks } from '../../base/content.js';
import { formatBytes, formatCount } from '../../base/format.js';
import { expectFile, findChange, isStatus, isUnexplained, type RemoteCalls, status } from './remote-calls.js';
import {
  type ByteRange,
  type DownloadOptions,
  type LocalFile,
  type RemoteFile,
  retryable,
  SftpError,
  type SizeLimit,
  type StoredFile,
} from './sftp.js';

/** A path is a file whose bytes are its content. */
export function toStoredFile(local: LocalFile): StoredFile {
  if (typeof local !== 'string') return local;
  return {
    path: local,
    measure: async () => (await stat(local)).size,
    read: () => createReadStream(local, { highWaterMark: writtenBytes }),
    convert: () => ({ take: (piece) => [piece], end: () => Buffer.alloc(0) }),
  };
}

/** This many requests are on their way at once. */
const concurrency = 64;

/** Runs some tasks at once, and yields their results in order. All have ended when it ends. */
async function* runInOrder<T>(
  tasks: AsyncIterable<() => Promise<T>> | Iterable<() => Promise<T>>,
): AsyncGenerator<T, void, undefined> {
  const running: Promise<T>[] = [];
  const oldest = () => running.shift() as Promise<T>;
  try {
    for await (const start of tasks) {
      const task = start();
      // It is reported in its turn.
      task.catch(() => {});
      running.push(task);
      if (running.length >= concurrency) yield await oldest();
    }
    while (running.length > 0) yield await oldest();
  } finally {
    await Promise.allSettled(running);
  }
}

/**
 * At most 8 MB in flight. A server that answers a request with less, often 32 KB, is asked for the rest. Smaller requests
 * take twice the processor time.
 */
const readBytes = 131_072;

/**
 * Reads bytes of a remote file with many concurrent requests, in order.
 *
 * (ssh2's `fastGet` never ends when the file becomes shorter while it reads.)
 *
 * @throws SftpError retryable `changed-while-reading` when the file ends earlier
 */
async function* readRemoteFile(
  remote: RemoteCalls,
  path: string,
  { from, to }: ByteRange,
): AsyncGenerator<Buffer, void, undefined> {
  const handle = await remote.open(path, 'r');

  async function readPiece(position: number): Promise<Buffer> {
    const piece = Buffer.allocUnsafe(Math.min(readBytes, to - position));
    for (let filled = 0; filled < piece.length; ) {
      const rest = piece.subarray(filled);
      const length = await remote.read(handle, rest, position + filled);
      if (length === 0)
        throw retryable('changed-while-reading', `read ${path}: the file became shorter meanwhile`);
      if (length > rest.length)
        throw retryable('server-failure', `read ${path}: the server sent more bytes than were requested`);
      filled += length;
    }
    return piece;
  }

  function* pieces() {
    for (let position = from; position < to; position += readBytes) yield () => readPiece(position);
  }

  try {
    yield* runInOrder(pieces());
  } finally {
    await remote.close(handle);
  }
}

/** Like `readRemoteFile`, into one buffer. */
export async function readRemoteRange(remote: RemoteCalls, path: string, range: ByteRange): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of readRemoteFile(remote, path, range)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Fills one packet of OpenSSH: measured fastest. */
const writtenBytes = 261_000;

/**
 * Writes a remote file with many concurrent requests, in place of an existing one.
 *
 * (A stream of ssh2's waits for each answer, and its `fastPut` takes only files that are stored as they are sent.)
 */
async function writeRemoteFile(
  remote: RemoteCalls,
  path: string,
  content: AsyncIterable<Uint8Array>,
  onProgress: (bytesDone: number) => void,
): Promise<void> {
  const handle = await remote.open(path, 'w');

  async function* writes() {
    let position = 0;
    for await (const chunk of toFixedBlocks(copyBlocks(content), writtenBytes)) {
      const at = position;
      yield () => remote.write(handle, chunk, at).then(() => at + chunk.length);
      position += chunk.length;
    }
  }

  try {
    for await (const done of runInOrder(writes())) onProgress(done);
  } finally {
    await remote.close(handle);
  }
}

/** Takes blocks that are valid only until the next one is read. */
async function* copyBlocks(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  for await (const block of content) yield Buffer.from(block);
}

/** Creates the file: never uses one that somebody else put there, or follows a link. */
const newFile = 'wx';
/** Creates or continues the file, in a folder that nobody else writes to. */
const resumedFile = constants.O_CREAT | constants.O_NOFOLLOW | constants.O_APPEND | constants.O_WRONLY;

/** What `onBytes` threw, to be told from a failure of the transfer. */
export class ReceiverError extends Error {
  override readonly name = 'ReceiverError';
}

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
  { limit, onProgress, onBytes, resumes: mayResume = false }: DownloadOptions,
): Promise<RemoteFile> {
  if (mayResume && typeof local !== 'string') throw new RangeError("a converted download can't be resumed");
  const stored = toStoredFile(local);
  const seen = await expectFile(remote, 'download', path);
  const { size, modifiedAt } = seen;
  expectSize(path, size, limit);
  const resumes = mayResume && modifiedAt !== undefined;
  const part = resumes ? `${stored.path}.${size}-${modifiedAt / 1_000}.part` : `${stored.path}.part`;
  if (resumes) await removeOtherParts(stored.path, part);
  else await rm(part, { force: true });
  const file = await open(part, resumes ? resumedFile : newFile, 0o600);
  try {
    try {
      const from = await findResumption(file, size);
      await expectSpace(path, dirname(stored.path), size - from);
      const converter = stored.convert();
      let done = from;
      for await (const piece of readRemoteFile(remote, path, { from, to: size })) {
        for (const bytes of converter.take(piece)) await file.writeFile(bytes);
        await onBytes?.(piece).catch((cause: unknown) => {
          throw new ReceiverError('the receiver of the bytes failed', { cause });
        });
        done += piece.length;
        onProgress?.(done, size);
      }
      await file.writeFile(converter.end());
      await file.sync();
    } finally {
      await file.close();
    }
    const change = await findChange(remote, path, seen);
    if (change) {
      const what = `the file changed meanwhile (${size} bytes, now ${change.size ?? 'none'})`;
      throw retryable('changed-while-reading', `download ${path}: ${what}`);
    }
    await rename(part, stored.path);
  } catch (error) {
    const mayGoOn = resumes && !(error instanceof SftpError && error.code === 'changed-while-reading');
    if (!mayGoOn) await rm(part, { force: true });
    throw error;
  }
  return seen;
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
  throw retryable(
    'no-local-space',
    `${path} is on the server, but its ${formatBytes(bytes)} do not fit on the disk of ${folder}, where ${formatBytes(free)} are free and ${formatBytes(spare)} must stay free. Free ${formatBytes(roundUp(missing))} there.`,
  );
}

/** To a tenth of a megabyte, as it is written. */
function roundUp(bytes: number): number {
  return Math.ceil(bytes / 1e5) * 1e5;
}

/** Files up to this size are read back after the upload, which takes a few round trips. */
const readBackLimit = 1_000_000;

const lookMs = 250;

/**
 * Uploads a file, then compares its size on the server, and for a small file its SHA-256. On a full disk some servers
 * answer every write with success, others (OpenSSH) with a failure without a reason. Where the server says how much is free,
 * both become `disk-full`; otherwise `short-upload`.
 *
 * @param lateSizeMs how long to wait for the right size: some servers report it a few seconds after the last write
 */
export async function uploadFile(
  remote: RemoteCalls,
  local: StoredFile,
  path: string,
  lateSizeMs: number,
  onProgress?: (bytesDone: number, bytesTotal: number) => void,
): Promise<void> {
  const size = await local.measure();
  let failure: unknown;
  try {
    await writeRemoteFile(remote, path, local.read(), (done) => onProgress?.(done, size));
  } catch (error) {
    if (!isUnexplained(error)) throw error;
    failure = error;
  }

  const sizeThere = async () => (await remote.stat(path))?.size;
  const deadline = performance.now() + lateSizeMs;
  let arrived = await sizeThere();
  if ((arrived !== size || failure !== undefined) && (await isFull(remote, path, size - (arrived ?? 0))))
    throw retryable('disk-full', `upload ${path}: the server's disk is full`, failure);
  while (arrived !== size && failure === undefined && performance.now() < deadline) {
    await pause(lookMs);
    arrived = await sizeThere();
  }
  if (arrived !== size) {
    const message = `upload ${path}: the server has ${arrived ?? 'none'} of ${size} bytes; its disk or quota may be full`;
    throw retryable('short-upload', message, failure);
  }
  if (failure !== undefined) throw failure;
  if (size <= readBackLimit && !(await isSame(remote, local, path, size)))
    throw retryable('damaged-upload', `upload ${path}: the bytes on the server differ from those sent`);
}

/** Writes run in parallel: one may fail where a shorter one still fits. */
const leftOnFullDisk = 261_000;

/** Whether the disk has no room for what is missing of a file. */
async function isFull(remote: RemoteCalls, path: string, missing: number): Promise<boolean> {
  const free = await remote.free(posix.dirname(path));
  return free !== undefined && (free.entries === 0 || free.bytes < Math.max(missing, leftOnFullDisk));
}

async function isSame(remote: RemoteCalls, local: StoredFile, path: string, size: number): Promise<boolean> {
  const sent = await measure(local.read());
  try {
    return (await measure(readRemoteFile(remote, path, { from: 0, to: size }))).sha256 === sent.sha256;
  } catch (error) {
    // An upload-only account may not read files.
    if (isStatus(error, status.permissionDenied)) return true;
    throw error;
  }
}

/**
 * Moves a file of `size` bytes from its temporary to its final name. Does not check afterwards: some servers move a file
 * away as soon as it has its final name.
 *
 * @param isRepeated the connection was lost while this was tried before
 */
export async function publishFile(
  remote: RemoteCalls,
  from: string,
  to: string,
  size: number,
  isRepeated: boolean,
): Promise<void> {
  const source = await remote.stat(from);
  if (source === undefined) {
    if ((await remote.stat(to))?.size === size) return; // An earlier call succeeded, and its answer was lost.
    throw sourceMissing(from, to);
  }
  if (source.size !== size)
    throw retryable('short-upload', `publish ${from}: the file has ${source.size} bytes instead of ${size}`);

  if ((await remote.renameReplacing(from, to)) === 'renamed') return;
  try {
    // A server that closes the connection after every rename does so after one that failed, too.
    if (isRepeated && (await remote.stat(to))) await remote.unlink(to);
    await remote.rename(from, to);
  } catch (error) {
    // Without posix-rename an existing target makes it fail, usually without a reason.
    const maybeTaken = isStatus(error, status.failure, status.fileAlreadyExists);
    if (!maybeTaken || (await remote.stat(to)) === undefined) throw error;
    // A worker that took over meanwhile has removed the temporary file and published its own.
    if ((await remote.stat(from)) === undefined) throw sourceMissing(from, to);
    await remote.unlink(to);
    await remote.rename(from, to);
  }
}

function sourceMissing(from: string, to: string): SftpError {
  return retryable(
    'source-missing',
    `publish ${from}: the uploaded file is gone, and ${to} is a different file`,
  );
}

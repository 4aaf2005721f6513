import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { readRemoteRange } from './download.js';
import { isStatus, isUnexplained, type RemoteCalls, status, uploadTuning } from './remote-calls.js';
import { type LocalFile, SftpError, type TransferOptions } from './sftp.js';

/** Files up to this size are read back after the upload, which takes a few round trips. */
const readBackLimit = 1_000_000;

/**
 * Uploads a file, then compares its size on the server, and for a small file its SHA-256. On a full disk some servers
 * answer every write with success, others (OpenSSH) with a failure without a reason. Where the server says how much is free,
 * both become `disk-full`; otherwise `short-upload`.
 *
 * @param lateSizeMs how long to wait for the right size: some servers report it a few seconds after the last write
 */
export async function uploadFile(
  remote: RemoteCalls,
  local: LocalFile,
  path: string,
  { onProgress }: TransferOptions,
  lateSizeMs = 10_000,
): Promise<void> {
  const size = typeof local === 'string' ? (await stat(local)).size : await local.measure();

  let failure: unknown;
  try {
    if (typeof local === 'string') await remote.upload(local, path, onProgress);
    else await writeRemoteFile(remote, local.read(), path, (done) => onProgress?.(done, size));
  } catch (error) {
    if (!isUnexplained(error)) throw error;
    failure = error;
  }

  let arrived = (await remote.stat(path))?.size;
  if ((arrived !== size || failure !== undefined) && (await isFull(remote, path, size - (arrived ?? 0)))) {
    const message = `upload ${path}: the server's disk is full`;
    throw new SftpError('retryable', 'disk-full', message, { cause: failure });
  }
  if (arrived !== size && failure === undefined) arrived = await awaitSize(remote, path, size, lateSizeMs);
  if (arrived !== size) {
    throw new SftpError(
      'retryable',
      'short-upload',
      `upload ${path}: the server has ${arrived ?? 'none'} of ${size} bytes; its disk or quota may be full`,
      { cause: failure },
    );
  }
  if (failure !== undefined) throw failure;
  if (size <= readBackLimit) await compareContent(remote, local, path, size);
}

const lookMs = 250;

/** The size that the server reports at last. */
async function awaitSize(
  remote: RemoteCalls,
  path: string,
  size: number,
  lateSizeMs: number,
): Promise<number | undefined> {
  const deadline = performance.now() + lateSizeMs;
  for (;;) {
    await pause(Math.min(lookMs, lateSizeMs));
    const arrived = (await remote.stat(path))?.size;
    if (arrived === size || performance.now() >= deadline) return arrived;
  }
}

/** Writes run in parallel: one may fail where a shorter one still fits. */
const leftOnFullDisk = 261_000;

/** Whether the disk has no room for what is missing of a file. */
async function isFull(remote: RemoteCalls, path: string, missing: number): Promise<boolean> {
  const folder = path.slice(0, path.lastIndexOf('/') + 1) || '.';
  const free = await remote.free(folder);
  return free !== undefined && (free.entries === 0 || free.bytes < Math.max(missing, leftOnFullDisk));
}

async function compareContent(
  remote: RemoteCalls,
  local: LocalFile,
  path: string,
  size: number,
): Promise<void> {
  let content: Buffer;
  try {
    content = await readRemoteRange(remote, path, { from: 0, to: size });
  } catch (error) {
    // An upload-only account may not read files.
    if (isStatus(error, status.permissionDenied)) return;
    throw error;
  }
  if (sha256(content) !== sha256(await readLocal(local))) {
    throw new SftpError(
      'retryable',
      'damaged-upload',
      `upload ${path}: the bytes on the server differ from those sent`,
    );
  }
}

async function readLocal(local: LocalFile): Promise<Buffer> {
  if (typeof local === 'string') return readFile(local);
  const blocks: Buffer[] = [];
  for await (const block of local.read()) blocks.push(Buffer.from(block));
  return Buffer.concat(blocks);
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
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
  isRepeated = false,
): Promise<void> {
  const source = await remote.stat(from);
  if (source === undefined) {
    if ((await remote.stat(to))?.size === size) return; // An earlier call succeeded, and its answer was lost.
    throw sourceMissing(from, to);
  }
  if (source.size !== size) {
    throw new SftpError(
      'retryable',
      'short-upload',
      `publish ${from}: the file has ${source.size} bytes instead of ${size}`,
    );
  }

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
  return new SftpError(
    'retryable',
    'source-missing',
    `publish ${from}: the uploaded file is gone, and ${to} is a different file`,
  );
}

const { concurrency, chunkSize } = uploadTuning;

/**
 * Writes content that is made while it is read, with many concurrent requests. A file that is stored as it is sent is
 * uploaded by the library instead.
 */
async function writeRemoteFile(
  remote: RemoteCalls,
  content: AsyncIterable<Uint8Array>,
  path: string,
  onProgress: (bytesDone: number) => void,
): Promise<void> {
  const handle = await remote.create(path);
  const running = new Set<Promise<void>>();
  let failure: { readonly reason: unknown } | undefined;
  let position = 0;
  let done = 0;

  async function write(bytes: Buffer): Promise<void> {
    if (running.size >= concurrency) await Promise.race(running);
    if (failure) throw failure.reason;
    const task = remote
      .write(handle, bytes, position)
      .then(
        () => {
          done += bytes.length;
          onProgress(done);
        },
        (reason: unknown) => {
          failure ??= { reason };
        },
      )
      .finally(() => running.delete(task));
    running.add(task);
    position += bytes.length;
  }

  try {
    for await (const chunk of inChunks(content)) await write(chunk);
  } finally {
    await Promise.all(running);
    await remote.close(handle).catch(() => {});
  }
  if (failure) throw failure.reason;
}

/** Chunks of one size, except for the last one, in memory of their own. */
async function* inChunks(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, undefined> {
  let chunk = Buffer.allocUnsafe(chunkSize);
  let filled = 0;
  for await (const block of content) {
    for (let from = 0; from < block.length; ) {
      const length = Math.min(chunkSize - filled, block.length - from);
      chunk.set(block.subarray(from, from + length), filled);
      filled += length;
      from += length;
      if (filled < chunkSize) continue;
      yield chunk;
      chunk = Buffer.allocUnsafe(chunkSize);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}

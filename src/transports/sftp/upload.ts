import { createHash } from 'node:crypto';
import { dirname } from 'node:path/posix';
import { setTimeout as pause } from 'node:timers/promises';
import { isStatus, isUnexplained, type RemoteCalls, status } from './remote-calls.js';
import { retryable, type SftpError, type StoredFile } from './sftp.js';
import { readRemoteRange, writeRemoteFile } from './transfer.js';

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
  const free = await remote.free(dirname(path));
  return free !== undefined && (free.entries === 0 || free.bytes < Math.max(missing, leftOnFullDisk));
}

async function isSame(remote: RemoteCalls, local: StoredFile, path: string, size: number): Promise<boolean> {
  const sent = createHash('sha256');
  for await (const block of local.read()) sent.update(block);
  try {
    const content = await readRemoteRange(remote, path, { from: 0, to: size });
    return createHash('sha256').update(content).digest('hex') === sent.digest('hex');
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

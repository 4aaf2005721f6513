import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isStatus, isUnexplained, status } from './failure.js';
import { readRemoteFile } from './reading.js';
import type { RemoteCalls } from './remote-calls.js';
import { SftpError, type TransferOptions } from './sftp.js';

/** Up to this size a file is read back: one round trip or a few. */
const readBackLimit = 1_000_000;

/**
 * Uploads a file, then compares its size with the server's, and a small one's SHA-256 too. On a full disk some servers
 * answer each write with success, others with a failure that gives no reason: both become `short-upload`, unless
 * the server says that the disk is full.
 */
export async function uploadFile(
  remote: RemoteCalls,
  localPath: string,
  path: string,
  { onProgress }: TransferOptions,
): Promise<void> {
  const { size } = await stat(localPath);

  let failure: unknown;
  try {
    await remote.upload(localPath, path, onProgress);
  } catch (error) {
    if (!isUnexplained(error)) throw error;
    failure = error;
  }

  const arrived = (await remote.stat(path))?.size;
  if (arrived !== size) {
    throw new SftpError(
      'retryable',
      'short-upload',
      `upload ${path}: of ${size} bytes the server has ${arrived ?? 'none'}; its disk or quota may be full`,
      { cause: failure },
    );
  }
  if (failure !== undefined) throw failure;
  if (size <= readBackLimit) await compareContent(remote, localPath, path, size);
}

async function compareContent(
  remote: RemoteCalls,
  localPath: string,
  path: string,
  size: number,
): Promise<void> {
  const content = Buffer.alloc(size);
  try {
    await readRemoteFile(remote, path, { from: 0, to: size }, async (piece, position) => {
      piece.copy(content, position);
    });
  } catch (error) {
    // A drop box takes files without letting anybody read them.
    if (isStatus(error, status.permissionDenied)) return;
    throw error;
  }
  if (sha256(content) !== sha256(await readFile(localPath))) {
    throw new SftpError(
      'retryable',
      'damaged-upload',
      `upload ${path}: the server has other bytes than were sent`,
    );
  }
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Moves a file of `size` bytes from its temporary to its final name.
 *
 * There is no look afterwards: some servers take a file away as soon as it has its name.
 */
export async function publishFile(
  remote: RemoteCalls,
  from: string,
  to: string,
  size: number,
): Promise<void> {
  const source = await remote.stat(from);
  if (source === undefined) {
    if ((await remote.stat(to))?.size === size) return; // An earlier call did it, and its answer was lost.
    throw sourceMissing(from, to);
  }
  if (source.size !== size) {
    throw new SftpError(
      'retryable',
      'short-upload',
      `publish ${from}: it has ${source.size} bytes instead of ${size}`,
    );
  }

  if ((await remote.renameReplacing(from, to)) === 'renamed') return;
  try {
    await remote.rename(from, to);
  } catch (error) {
    // Without posix-rename an existing target is a reason to fail, and seldom one that is told.
    const maybeTaken = isStatus(error, status.failure, status.fileAlreadyExists);
    if (!maybeTaken || (await remote.stat(to)) === undefined) throw error;
    // Who took this over meanwhile has removed the temporary file, and then published its own.
    if ((await remote.stat(from)) === undefined) throw sourceMissing(from, to);
    await remote.unlink(to);
    await remote.rename(from, to);
  }
}

function sourceMissing(from: string, to: string): SftpError {
  return new SftpError(
    'retryable',
    'source-missing',
    `publish ${from}: the uploaded file is gone, and ${to} is not it`,
  );
}

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

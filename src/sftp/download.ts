import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { Stats } from 'ssh2';
import { readRemoteFile } from './reading.js';
import type { RemoteCalls } from './remote-calls.js';
import { SftpError, type TransferOptions } from './sftp.js';

/** Only ever a file of our own making: never one that somebody put there, nor one behind a link. */
const newFile = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;

/**
 * Downloads a file under the local name with `.part` added, makes it durable and renames it. The remote size and time
 * are compared before and after.
 *
 * @returns what the server said of the file.
 */
export async function downloadFile(
  remote: RemoteCalls,
  path: string,
  localPath: string,
  { onProgress }: TransferOptions,
): Promise<Stats> {
  const before = await find(remote, path);
  const { size } = before;
  const part = `${localPath}.part`;
  await rm(part, { force: true });
  const file = await open(part, newFile, 0o600);
  try {
    try {
      let bytesDone = 0;
      await readRemoteFile(remote, path, size, async (piece, position) => {
        await writeWhole(file, piece, position);
        bytesDone += piece.length;
        onProgress?.(bytesDone, size);
      });
      await file.sync();
    } finally {
      await file.close();
    }
    const after = await find(remote, path);
    if (after.size !== size || after.mtime !== before.mtime) {
      throw new SftpError(
        'retryable',
        'changed-while-reading',
        `download ${path}: the file changed meanwhile (${size} bytes, now ${after.size})`,
      );
    }
    await rename(part, localPath);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return before;
}

async function find(remote: RemoteCalls, path: string): Promise<Stats> {
  const found = await remote.stat(path);
  if (found?.isFile()) return found;
  throw new SftpError('retryable', 'no-such-file', `download ${path}: no such file on the server`);
}

/** A write may take fewer bytes than it was given, for instance when the disk is nearly full. */
async function writeWhole(
  file: Awaited<ReturnType<typeof open>>,
  piece: Buffer,
  position: number,
): Promise<void> {
  for (let written = 0; written < piece.length; ) {
    const { bytesWritten } = await file.write(piece, written, piece.length - written, position + written);
    written += bytesWritten;
  }
}

import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Stats } from 'ssh2';
import { readRemoteFile } from './reading.js';
import type { RemoteCalls } from './remote-calls.js';
import { type DownloadOptions, SftpError } from './sftp.js';

/** Only ever a file of our own making: never one that somebody put there, nor one behind a link. */
const newFile = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;
/** In a folder that nobody else writes to: one that an earlier download has left there, or a new one. */
const begunFile = constants.O_CREAT | constants.O_NOFOLLOW | constants.O_WRONLY;

/**
 * Downloads a file under the local name with `.part` added, makes it durable and renames it. The remote size and time
 * are compared before and after. One that resumes carries them in its name, so that it goes on only with the same file.
 *
 * @returns what the server said of the file.
 */
export async function downloadFile(
  remote: RemoteCalls,
  path: string,
  localPath: string,
  { onProgress, resumes = false }: DownloadOptions,
): Promise<Stats> {
  const before = await find(remote, path);
  const { size } = before;
  const part = resumes ? `${localPath}.${size}-${before.mtime}.part` : `${localPath}.part`;
  if (resumes) await removeOtherParts(localPath, part);
  else await rm(part, { force: true });
  const file = await open(part, resumes ? begunFile : newFile, 0o600);
  try {
    try {
      const from = await findResumption(file, size);
      await readRemoteFile(remote, path, { from, to: size }, async (piece, position) => {
        await writeWhole(file, piece, position);
        onProgress?.(position + piece.length, size);
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
    const isOfUse = resumes && !(error instanceof SftpError && error.code === 'changed-while-reading');
    if (!isOfUse) await rm(part, { force: true });
    throw error;
  }
  return before;
}

async function find(remote: RemoteCalls, path: string): Promise<Stats> {
  const found = await remote.stat(path);
  if (found?.isFile()) return found;
  throw new SftpError('retryable', 'no-such-file', `download ${path}: no such file on the server`);
}

/** Removes what downloads of other files to that local path have left. */
async function removeOtherParts(localPath: string, part: string): Promise<void> {
  const folder = dirname(localPath);
  const prefix = `${basename(localPath)}.`;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (path !== part && name.startsWith(prefix) && name.endsWith('.part')) await rm(path, { force: true });
  }
}

/** How much of the file is there already: pieces are written in their order, so all that comes before its end. */
async function findResumption(file: FileHandle, size: number): Promise<number> {
  const begun = await file.stat();
  if (begun.size <= size) return begun.size;
  await file.truncate(0);
  return 0;
}

/** A write may take fewer bytes than it was given, for instance when the disk is nearly full. */
async function writeWhole(file: FileHandle, piece: Buffer, position: number): Promise<void> {
  for (let written = 0; written < piece.length; ) {
    const { bytesWritten } = await file.write(piece, written, piece.length - written, position + written);
    written += bytesWritten;
  }
}

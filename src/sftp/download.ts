import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { mayBeFile, type RemoteAttributes, sizeOf } from './attributes.js';
import { expectSize, expectSpace } from './limits.js';
import { readRemoteFile } from './reading.js';
import type { RemoteCalls } from './remote-calls.js';
import { type DownloadOptions, type FileConverter, type LocalFile, SftpError } from './sftp.js';
import { findChange } from './times.js';

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

import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { formatBytes, formatCount } from '../../base/format.js';
import { expectFile, findChange, type RemoteCalls } from './remote-calls.js';
import {
  type DownloadOptions,
  type LocalFile,
  type RemoteFile,
  retryable,
  SftpError,
  type SizeLimit,
} from './sftp.js';
import { readRemoteFile, toStoredFile } from './transfer.js';

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

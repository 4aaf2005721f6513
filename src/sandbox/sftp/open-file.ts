import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import ssh2, { type Attributes } from 'ssh2';
import { type Place, RequestRefused, status } from './jail.js';

/** Attributes that a client sets; absent ones stay unchanged. Times in seconds. */
export interface WantedAttributes {
  readonly mode?: number | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly size?: number | undefined;
  readonly atime?: number | undefined;
  readonly mtime?: number | undefined;
}

/** A file to change, by path or by handle. */
interface Changeable {
  stat(): Promise<Stats>;
  truncate(size: number): Promise<void>;
  chmod(mode: number): Promise<void>;
  utimes(atime: number, mtime: number): Promise<void>;
}

/** Files contain guests' names, so only their owner gets access, whatever a client asks for. */
const newFileMode = 0o600;
export const newFolderMode = 0o700;
const ownerOnly = 0o700;

export function toAttributes(stats: Stats): Attributes {
  const { mode, uid, gid, size, atimeMs, mtimeMs } = stats;
  return { mode, uid, gid, size, atime: Math.floor(atimeMs / 1_000), mtime: Math.floor(mtimeMs / 1_000) };
}

/** Sets size, mode (the owner's bits) and times. @throws RequestRefused for another owner */
export async function setAttributes(what: Changeable, wanted: WantedAttributes): Promise<void> {
  const { size, mode, uid, gid, atime, mtime } = wanted;
  if (uid !== undefined || gid !== undefined) {
    const stats = await what.stat();
    if (uid !== stats.uid || gid !== stats.gid) {
      throw new RequestRefused(status.PERMISSION_DENIED, 'The owner cannot be changed');
    }
  }
  if (size !== undefined) await what.truncate(size);
  if (mode !== undefined) await what.chmod(mode & ownerOnly);
  if (atime !== undefined && mtime !== undefined) await what.utimes(atime, mtime);
}

/** A file opened by a client. */
export interface OpenFile {
  readonly kind: 'file';
  /** Relative to the root, without a leading slash. */
  readonly path: string;
  /** Undefined at the end of the file. */
  read(position: number, length: number): Promise<Buffer | undefined>;
  /** Writes all of the data or throws. */
  write(position: number, data: Buffer): Promise<void>;
  stat(): Promise<Stats>;
  setAttributes(wanted: WantedAttributes): Promise<void>;
  /** Resolves to the size of a file that was written without errors. */
  close(): Promise<{ readonly receivedBytes: number | undefined }>;
}

const { OPEN_MODE } = ssh2.utils.sftp;

/** Limit for one answer: clients accept packets of at most 256 KiB. */
const maxRead = 255 * 1_024;

/** Opens a file with the protocol's flags. @throws RequestRefused for anything but a regular file */
export async function openFile(place: Place, flags: number): Promise<OpenFile> {
  if (place.stats !== undefined && !place.stats.isFile()) {
    throw new RequestRefused(status.FAILURE, 'Not a regular file');
  }
  const writes = (flags & OPEN_MODE.WRITE) !== 0;
  const appends = (flags & OPEN_MODE.APPEND) !== 0;
  const file = await open(place.onDisk, toDiskFlags(flags), newFileMode);
  let hasFailed = false;

  return {
    kind: 'file',
    path: place.path,

    async read(position, length) {
      const buffer = Buffer.allocUnsafe(Math.min(length, maxRead));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead);
    },

    async write(position, data) {
      try {
        // Linux ignores the position when appending; other systems don't.
        await writeAll(file, data, appends ? null : position);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    },

    stat: () => file.stat(),
    setAttributes: (wanted) => setAttributes(file, wanted),

    async close() {
      try {
        return { receivedBytes: writes && !hasFailed ? (await file.stat()).size : undefined };
      } finally {
        await file.close();
      }
    },
  };
}

function toDiskFlags(flags: number): number {
  const has = (flag: number) => (flags & flag) !== 0;
  const creates = has(OPEN_MODE.CREAT);
  let diskFlags = constants.O_NOFOLLOW;
  if (!has(OPEN_MODE.WRITE)) diskFlags |= constants.O_RDONLY;
  else diskFlags |= has(OPEN_MODE.READ) ? constants.O_RDWR : constants.O_WRONLY;
  if (has(OPEN_MODE.APPEND)) diskFlags |= constants.O_APPEND;
  if (creates) diskFlags |= constants.O_CREAT;
  if (creates && has(OPEN_MODE.EXCL)) diskFlags |= constants.O_EXCL;
  // Opening for reading never truncates.
  if (has(OPEN_MODE.TRUNC) && has(OPEN_MODE.WRITE)) diskFlags |= constants.O_TRUNC;
  return diskFlags;
}

/** A single write may be short, for instance when the disk is nearly full. */
async function writeAll(file: FileHandle, data: Buffer, position: number | null): Promise<void> {
  for (let written = 0; written < data.length; ) {
    const at = position === null ? null : position + written;
    const { bytesWritten } = await file.write(data, written, data.length - written, at);
    written += bytesWritten;
  }
}

import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Attributes } from 'ssh2';
import ssh2 from 'ssh2';
import { RequestRefused, status } from './answer.js';
import type { Place } from './jail.js';

/** What a client asks for; what it does not name is left as it is. Times are seconds. */
export interface WantedAttributes {
  readonly mode?: number | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly size?: number | undefined;
  readonly atime?: number | undefined;
  readonly mtime?: number | undefined;
}

/** What can be changed, by path or by open file. */
export interface Changeable {
  stat(): Promise<Stats>;
  truncate(size: number): Promise<void>;
  chmod(mode: number): Promise<void>;
  utimes(atime: number, mtime: number): Promise<void>;
}

/** Files and folders hold guests' names, so whatever a client asks, they are for their owner only. */
export const newFileMode = 0o600;
export const newFolderMode = 0o700;
const ownerOnly = 0o700;

export function toAttributes(stats: Stats): Attributes {
  const { mode, uid, gid, size, atimeMs, mtimeMs } = stats;
  return { mode, uid, gid, size, atime: Math.floor(atimeMs / 1_000), mtime: Math.floor(mtimeMs / 1_000) };
}

/** Changes size, mode (its owner's part) and times. @throws RequestRefused for another owner */
export async function changeAttributes(what: Changeable, wanted: WantedAttributes): Promise<void> {
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

/** A file that a client has open. */
export interface OpenFile {
  readonly kind: 'file';
  /** From the root on, without a leading slash. */
  readonly path: string;
  /** Undefined at the end of the file. */
  read(position: number, length: number): Promise<Buffer | undefined>;
  /** All of it, or it throws. */
  write(position: number, data: Buffer): Promise<void>;
  stat(): Promise<Stats>;
  change(wanted: WantedAttributes): Promise<void>;
  /** Tells the size of a file that was written, and without a fault. */
  close(): Promise<{ readonly receivedBytes: number | undefined }>;
}

const { OPEN_MODE } = ssh2.utils.sftp;

/** What one answer may hold: a packet of 256 KiB at most is what clients take. */
const maxRead = 255 * 1_024;

/** Opens a file as the protocol's flags ask. @throws RequestRefused for anything that is no regular file */
export async function openFile(place: Place, flags: number): Promise<OpenFile> {
  if (place.stats !== undefined && !place.stats.isFile()) {
    throw new RequestRefused(status.FAILURE, 'It is not a regular file');
  }
  const writes = (flags & OPEN_MODE.WRITE) !== 0;
  const appends = (flags & OPEN_MODE.APPEND) !== 0;
  const file = await open(place.onDisk, toDiskFlags(flags), newFileMode);
  let faultless = true;

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
        // Linux appends whatever the position says; other systems would follow it.
        await writeWhole(file, data, appends ? null : position);
      } catch (error) {
        faultless = false;
        throw error;
      }
    },

    stat: () => file.stat(),
    change: (wanted) => changeAttributes(file, wanted),

    async close() {
      try {
        return { receivedBytes: writes && faultless ? (await file.stat()).size : undefined };
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
  // A file that is opened for reading stays as it is.
  if (has(OPEN_MODE.TRUNC) && has(OPEN_MODE.WRITE)) diskFlags |= constants.O_TRUNC;
  return diskFlags;
}

/** The disk may take fewer bytes than it was given, for instance when it is nearly full. */
async function writeWhole(file: FileHandle, data: Buffer, position: number | null): Promise<void> {
  for (let written = 0; written < data.length; ) {
    const at = position === null ? null : position + written;
    const { bytesWritten } = await file.write(data, written, data.length - written, at);
    written += bytesWritten;
  }
}

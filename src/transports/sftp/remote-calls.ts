import { basename, dirname } from 'node:path/posix';
import { setTimeout as pause } from 'node:timers/promises';
import type { FileEntryWithStats, Stats } from 'ssh2';
import { formatBytes, formatCount } from '../../base/format.js';
import type { Connection } from './connection.js';
import { type RemoteFile, retryable, SftpError, type TimeSource } from './sftp.js';

export type RemoteCalls = ReturnType<typeof createRemoteCalls>;

/** On average, per entry of a listing: a name and the line that `ls -l` would print about it. */
const bytesPerEntry = 500;

/**
 * The protocol's calls. They reject with the server's answer (an Error with its status as `code`) or with the reason why the
 * connection ended.
 *
 * @param maxEntries how many entries a folder may have
 */
export function createRemoteCalls({ files, ask }: Connection, maxEntries: number) {
  const maxBytes = maxEntries * bytesPerEntry;
  const close = (handle: Buffer) => ask<void>((answer) => files.close(handle, answer)).catch(() => {});

  /** What a folder holds, as it arrives. @throws SftpError when there is too much */
  async function* list(path: string) {
    let found = 0;
    let bytes = 0;
    const handle = await ask<Buffer>((answer) => files.opendir(path, answer));
    try {
      for (;;) {
        const entries = await ask<FileEntryWithStats[]>((answer) => files.readdir(handle, answer));
        // Of answers without an entry, too, there may only be so many.
        found += Math.max(entries.length, 1);
        for (const { filename, longname } of entries) bytes += filename.length + longname.length;
        if (bytes > maxBytes) throw tooMany(path, `names of more than ${formatBytes(maxBytes)}`);
        if (found > maxEntries) throw tooMany(path, `more than ${formatCount(maxEntries)} entries`);
        for (const { filename, longname, attrs } of entries)
          yield { name: filename, attributes: readAttributes(attrs, longname) };
      }
    } catch (error) {
      if (!isStatus(error, status.endOfFile)) throw error;
    } finally {
      await close(handle);
    }
  }

  /** Whether the listing of its folder lacks it, or that folder is missing, too. */
  async function isUnlisted(path: string): Promise<boolean> {
    const name = basename(path);
    if (name === '' || name === '.') return false;
    try {
      for await (const entry of list(dirname(path))) if (entry.name === name) return false;
      return true;
    } catch (error) {
      return isMissing(error) || (isUnexplained(error) && isUnlisted(dirname(path)));
    }
  }

  return {
    close,
    list,
    makeFolder: (path: string) => ask<void>((answer) => files.mkdir(path, answer)),
    unlink: (path: string) => ask<void>((answer) => files.unlink(path, answer)),
    /** Most servers refuse to replace an existing file. */
    rename: (from: string, to: string) => ask<void>((answer) => files.rename(from, to, answer)),
    /** With `w` it creates an empty file, or empties an existing one. */
    open: (path: string, mode: 'r' | 'w') => ask<Buffer>((answer) => files.open(path, mode, answer)),
    write: (handle: Buffer, bytes: Buffer, position: number) =>
      ask<void>((answer) => files.write(handle, bytes, 0, bytes.length, position, answer)),
    /** Fills a part of the buffer; resolves to the number of bytes, 0 at the end of the file. */
    read: (handle: Buffer, into: Buffer, position: number) =>
      ask<number>((answer) => files.read(handle, into, 0, into.length, position, answer)),

    /** Undefined when nothing exists under that path. */
    async stat(path: string): Promise<RemoteAttributes | undefined> {
      try {
        return readAttributes(await ask<Stats>((answer) => files.stat(path, answer)));
      } catch (error) {
        if (isMissing(error)) return undefined;
        // The answer of some servers for a missing path, and of others when something is wrong with an existing one.
        if (isUnexplained(error) && (await isUnlisted(path))) return undefined;
        throw error;
      }
    },

    /** Whether it can be listed: for servers that do not say what is a folder. */
    async isListable(path: string): Promise<boolean> {
      try {
        await close(await ask<Buffer>((answer) => files.opendir(path, answer)));
        return true;
      } catch (error) {
        if (isMissing(error) || isStatus(error, status.failure)) return false;
        throw error;
      }
    },

    /** Free bytes and file entries of the disk under an existing path; undefined where the server does not say. */
    async free(path: string): Promise<{ readonly bytes: number; readonly entries: number } | undefined> {
      try {
        const { f_bavail, f_frsize, f_files, f_favail } = await ask<
          Record<'f_bavail' | 'f_frsize' | 'f_files' | 'f_favail', number>
        >((answer) => files.ext_openssh_statvfs(path, answer));
        // Some file systems count no entries.
        const entries = f_files === 0 ? Number.POSITIVE_INFINITY : f_favail;
        return { bytes: f_bavail * f_frsize, entries };
      } catch {
        // ssh2 throws where the server did not announce the extension. The failure that led here is the one that counts.
        return undefined;
      }
    },

    async renameReplacing(from: string, to: string): Promise<'renamed' | 'unsupported'> {
      try {
        await ask<void>((answer) => files.ext_openssh_rename(from, to, answer));
        return 'renamed';
      } catch (error) {
        if (isStatus(error, status.unsupported) || isUnannounced(error)) return 'unsupported';
        throw error;
      }
    },
  };
}

function tooMany(path: string, exceeded: string): SftpError {
  const message = `list ${path}: the server lists ${exceeded}. Have the folder tidied up.`;
  return new SftpError('excessive', 'too-many-files', message);
}

/** What a server says about a file or folder. Every attribute is optional in the protocol. */
export interface RemoteAttributes {
  /** `unknown` where the server does not tell. */
  readonly kind: 'file' | 'folder' | 'other' | 'unknown';
  readonly size: number | undefined;
  /** Epoch milliseconds, of whole seconds. */
  readonly modifiedAt: number | undefined;
}

const typeBits = 0o170_000;
const kinds: ReadonlyMap<number, RemoteAttributes['kind']> = new Map([
  [0, 'unknown'],
  [0o100_000, 'file'],
  [0o040_000, 'folder'],
]);

/** The beginning of a line of `ls -l`. */
const longForm = /^[-a-zA-Z][-r][-w][-xsStT]/;

/**
 * Reads the attributes of an answer. Some servers leave out the type, or all permissions: then the long name of a listing
 * may tell. A time of 0 is none: servers that keep no times send it for every file.
 */
function readAttributes({ mode = 0, size, mtime }: Partial<Stats>, longname = ''): RemoteAttributes {
  const kind = kinds.get(mode & typeBits) ?? 'other';
  const modifiedAt = mtime ? mtime * 1_000 : undefined;
  return { kind: kind === 'unknown' ? kindOfLine(longname) : kind, size, modifiedAt };
}

function kindOfLine(longname: string): RemoteAttributes['kind'] {
  if (!longForm.test(longname)) return 'unknown';
  if (longname.startsWith('-')) return 'file';
  return longname.startsWith('d') ? 'folder' : 'other';
}

/** Finds a regular file, or what the server does not describe: it shows when it is read. */
export async function findFile(remote: RemoteCalls, path: string): Promise<RemoteFile | undefined> {
  const found = await remote.stat(path);
  return found && mayBeFile(found) ? describeFile(path, found) : undefined;
}

export function mayBeFile({ kind }: RemoteAttributes): boolean {
  return kind === 'file' || kind === 'unknown';
}

/** @throws SftpError where the server reports no size: then nobody could tell a whole file from a part */
export function describeFile(path: string, { size, modifiedAt }: RemoteAttributes): RemoteFile {
  if (size === undefined) {
    const message = `look at ${path}: the server does not report the size of files`;
    throw new SftpError('denied', 'no-size', message);
  }
  return { name: basename(path), size, ...(modifiedAt !== undefined && { modifiedAt }) };
}

/** @throws SftpError where there is no such file */
export async function expectFile(remote: RemoteCalls, operation: string, path: string): Promise<RemoteFile> {
  const found = await findFile(remote, path);
  if (found) return found;
  throw retryable('no-such-file', `${operation} ${path}: no such file on the server`);
}

/** Times are whole seconds: after this long, a clock shows another one. */
const nextSecondMs = 1_100;

/** Looks at a file twice, without reading it in between. */
export async function examineTime(remote: RemoteCalls, path: string): Promise<TimeSource> {
  const first = (await remote.stat(path))?.modifiedAt;
  if (first === undefined) return 'none';
  await pause(nextSecondMs);
  return (await remote.stat(path))?.modifiedAt === first ? 'kept' : 'clock';
}

/**
 * Whether the file is still the one that was seen, as far as the server tells: it has the same size, and the same time if
 * the server keeps times.
 *
 * @returns its size now if it is not; none if the file is gone
 */
export async function findChange(
  remote: RemoteCalls,
  path: string,
  seen: RemoteFile,
): Promise<{ readonly size: number | undefined } | undefined> {
  const { size, modifiedAt } = (await remote.stat(path)) ?? {};
  if (size !== seen.size) return { size };
  if (modifiedAt === undefined || seen.modifiedAt === undefined || modifiedAt === seen.modifiedAt)
    return undefined;
  if ((await examineTime(remote, path)) === 'kept') return { size };
  const later = await remote.stat(path);
  return later?.size === seen.size ? undefined : { size: later?.size };
}

/** The protocol's status codes that we interpret (draft-ietf-secsh-filexfer-13, 9.1; OpenSSH sends 1 to 8). */
export const status = {
  endOfFile: 1,
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  noConnection: 6,
  connectionLost: 7,
  unsupported: 8,
  noSuchPath: 10,
  fileAlreadyExists: 11,
  writeProtected: 12,
  noSpaceOnFilesystem: 14,
  quotaExceeded: 15,
} as const;

/** Whether the server answered with one of these status codes. */
export function isStatus(error: unknown, ...codes: readonly number[]): boolean {
  const code = codeOf(error);
  return typeof code === 'number' && codes.includes(code);
}

export function isMissing(error: unknown): boolean {
  return isStatus(error, status.noSuchFile, status.noSuchPath);
}

/** Whether the server answered with the general failure and gave no reason. */
export function isUnexplained(error: unknown): boolean {
  return isStatus(error, status.failure) && !saysDiskFull(error);
}

/** Whether ssh2 did not send a request, because the server has not announced that it knows it. */
function isUnannounced(error: unknown): boolean {
  return error instanceof Error && error.message.includes('not support this extended request');
}

export function codeOf(error: unknown): string | number | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'number' || typeof error.code === 'string' ? error.code : undefined;
}

export function saysDiskFull(error: unknown): boolean {
  return error instanceof Error && /no space|quota|disk (is )?full/i.test(error.message);
}

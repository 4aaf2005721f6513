import { setTimeout as pause } from 'node:timers/promises';
import type { FileEntryWithStats, SFTPWrapper, Stats } from 'ssh2';
import type SftpClient from 'ssh2-sftp-client';
import { formatBytes, formatCount } from '../../base/format.js';
import { SftpError, type TimeSource } from './sftp.js';

/** 64 requests in flight, each filling one packet of OpenSSH: measured fastest. */
export const uploadTuning = { concurrency: 64, chunkSize: 261_000 };

/**
 * The protocol's calls, as promises that always settle. They reject with the server's answer (an Error with its status as
 * `code`) or with the reason why the connection ended.
 */
export interface RemoteCalls {
  /** Free bytes and file entries of the disk under an existing path; undefined where the server does not say. */
  free(path: string): Promise<{ readonly bytes: number; readonly entries: number } | undefined>;
  /** Undefined when nothing exists under that path. */
  stat(path: string): Promise<RemoteAttributes | undefined>;
  /** Passes on what a folder holds as it arrives. Throws SftpError when there is too much. */
  list(path: string, take: (entries: readonly RemoteEntry[]) => void): Promise<void>;
  /** Whether it can be listed: for servers that do not say what is a folder. */
  isListable(path: string): Promise<boolean>;
  makeFolder(path: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Most servers refuse to replace an existing file. */
  rename(from: string, to: string): Promise<void>;
  renameReplacing(from: string, to: string): Promise<'renamed' | 'unsupported'>;
  open(path: string): Promise<Buffer>;
  /** Opens an empty file for writing; empties an existing one. */
  create(path: string): Promise<Buffer>;
  /** Fills the buffer from its start; resolves to the number of bytes, 0 at the end of the file. */
  read(handle: Buffer, buffer: Buffer, length: number, position: number): Promise<number>;
  write(handle: Buffer, bytes: Buffer, position: number): Promise<void>;
  close(handle: Buffer): Promise<void>;
  /** The local file must not shrink meanwhile. */
  upload(
    localPath: string,
    path: string,
    onProgress?: (bytesDone: number, bytesTotal: number) => void,
  ): Promise<void>;
}

/** One entry of a listing. */
export interface RemoteEntry {
  /** Without its folder. */
  readonly name: string;
  readonly attributes: RemoteAttributes;
}

/** What `statvfs@openssh.com` answers. */
interface FileSystemInfo {
  readonly f_bavail: number;
  readonly f_frsize: number;
  readonly f_files: number;
  readonly f_favail: number;
}

interface CallsOptions {
  readonly client: SftpClient;
  readonly files: SFTPWrapper;
  /** How many entries a folder may have. */
  readonly maxEntries: number;
  /** Called for every answer of the server. */
  readonly onAnswer: () => void;
  /** Calls back when the connection has ended, until the returned function is called. */
  readonly whenEnded: (reject: (reason: unknown) => void) => () => void;
}

/**
 * ssh2-sftp-client opens the session and uploads. The other calls go to ssh2 directly: the wrapper's `stat` treats a
 * general failure as "no such file", its `fastGet` drops the status and its `list` relies on the long name alone. Neither
 * library calls back when the connection is lost at certain moments (mscdex/ssh2#1490), hence `whenEnded`.
 */
export function createRemoteCalls(options: CallsOptions): RemoteCalls {
  const { client, files, maxEntries, onAnswer, whenEnded } = options;
  type Answer<T> = (error: Error | null | undefined, value: T) => void;

  const ask = <T>(start: (answer: Answer<T>) => void): Promise<T> => {
    let stopWaiting = () => {};
    return new Promise<T>((resolve, reject) => {
      stopWaiting = whenEnded(reject);
      start((error, value) => {
        onAnswer();
        if (error) reject(error);
        else resolve(value);
      });
    }).finally(() => stopWaiting());
  };
  const tell = (start: (answer: (error?: Error | null) => void) => void): Promise<void> =>
    ask<void>((answer) => start((error) => answer(error, undefined)));

  const close = (handle: Buffer) => tell((answer) => files.close(handle, answer));

  async function list(path: string, take: (entries: readonly RemoteEntry[]) => void): Promise<void> {
    const expectFew = limitListing(path, maxEntries);
    const handle = await ask<Buffer>((answer) => files.opendir(path, answer));
    try {
      for (;;) {
        const entries = await ask<FileEntryWithStats[]>((answer) => files.readdir(handle, answer));
        expectFew(entries);
        take(
          entries.map(({ filename, longname, attrs }) => ({
            name: filename,
            attributes: readAttributes(attrs, longname),
          })),
        );
      }
    } catch (error) {
      if (!isStatus(error, status.endOfFile)) throw error;
    } finally {
      await close(handle).catch(() => {});
    }
  }

  /** Whether the listing of its folder lacks it, or that folder is missing, too. */
  async function isUnlisted(path: string): Promise<boolean> {
    const { folder, name } = splitPath(path);
    if (name === '' || name === '.') return false;
    let isListed = false;
    try {
      await list(folder, (entries) => {
        isListed ||= entries.some((entry) => entry.name === name);
      });
      return !isListed;
    } catch (error) {
      if (isStatus(error, status.noSuchFile, status.noSuchPath)) return true;
      return isUnexplained(error) && isUnlisted(folder);
    }
  }

  return {
    close,
    list,
    makeFolder: (path) => tell((answer) => files.mkdir(path, answer)),
    unlink: (path) => tell((answer) => files.unlink(path, answer)),
    rename: (from, to) => tell((answer) => files.rename(from, to, answer)),
    open: (path) => ask<Buffer>((answer) => files.open(path, 'r', answer)),
    create: (path) => ask<Buffer>((answer) => files.open(path, 'w', answer)),
    write: (handle, bytes, position) =>
      tell((answer) => files.write(handle, bytes, 0, bytes.length, position, answer)),
    read: (handle, buffer, length, position) =>
      ask<number>((answer) => files.read(handle, buffer, 0, length, position, answer)),

    async stat(path) {
      try {
        return readAttributes(await ask<Stats>((answer) => files.stat(path, answer)));
      } catch (error) {
        if (isStatus(error, status.noSuchFile, status.noSuchPath)) return undefined;
        // The answer of some servers for a missing path, and of others when something is wrong with an existing one.
        if (isUnexplained(error) && (await isUnlisted(path))) return undefined;
        throw error;
      }
    },

    async isListable(path) {
      try {
        const handle = await ask<Buffer>((answer) => files.opendir(path, answer));
        await close(handle).catch(() => {});
        return true;
      } catch (error) {
        if (isStatus(error, status.noSuchFile, status.noSuchPath, status.failure)) return false;
        throw error;
      }
    },

    async free(path) {
      try {
        const { f_bavail, f_frsize, f_files, f_favail } = await ask<FileSystemInfo>((answer) =>
          files.ext_openssh_statvfs(path, answer),
        );
        // Some file systems count no entries.
        const entries = f_files === 0 ? Number.POSITIVE_INFINITY : f_favail;
        return { bytes: f_bavail * f_frsize, entries };
      } catch {
        // ssh2 throws where the server did not announce the extension. The failure that led here is the one that counts.
        return undefined;
      }
    },

    async renameReplacing(from, to) {
      let offered = true;
      try {
        await tell((answer) => {
          try {
            files.ext_openssh_rename(from, to, answer);
          } catch {
            // ssh2 throws synchronously where the server did not announce the extension.
            offered = false;
            answer();
          }
        });
      } catch (error) {
        if (!isStatus(error, status.unsupported)) throw error;
        offered = false;
      }
      return offered ? 'renamed' : 'unsupported';
    },

    upload: (localPath, path, onProgress) =>
      tell((answer) => {
        const step = (bytesDone: number, chunk: number, bytesTotal: number) => {
          if (chunk === 0) return;
          onAnswer();
          onProgress?.(bytesDone, bytesTotal);
        };
        client.fastPut(localPath, path, { ...uploadTuning, step }).then(() => answer(), answer);
      }),
  };
}

/** On average, per entry: a name and the line that `ls -l` would print about it. */
const bytesPerEntry = 500;

/** @returns a function that takes each part of a listing, and throws once the limit is exceeded */
function limitListing(
  path: string,
  maxEntries: number,
): (entries: readonly { readonly filename: string; readonly longname: string }[]) => void {
  const maxBytes = maxEntries * bytesPerEntry;
  let found = 0;
  let bytes = 0;
  let parts = 0;
  return (entries) => {
    parts += 1;
    found += entries.length;
    for (const { filename, longname } of entries) bytes += filename.length + longname.length;
    if (found <= maxEntries && bytes <= maxBytes && parts <= maxEntries) return;
    const exceeded =
      bytes > maxBytes
        ? `names of more than ${formatBytes(maxBytes)}`
        : found > maxEntries
          ? `more than ${formatCount(maxEntries)} entries`
          : `more than ${formatCount(maxEntries)} parts`;
    throw new SftpError(
      'excessive',
      'too-many-files',
      `list ${path}: the server lists ${exceeded}. Have the folder tidied up.`,
    );
  };
}

/** The folder of a path, and its last part. */
function splitPath(path: string): { readonly folder: string; readonly name: string } {
  const at = path.lastIndexOf('/');
  return { folder: path.slice(0, Math.max(at, 0)) || (at === 0 ? '/' : '.'), name: path.slice(at + 1) };
}

/** What a server says about a file or folder. Every attribute is optional in the protocol. */
export interface RemoteAttributes {
  /** `unknown` where the server does not tell. */
  readonly kind: 'file' | 'folder' | 'other' | 'unknown';
  readonly size: number | undefined;
  /** Epoch seconds. */
  readonly mtime: number | undefined;
  /** Its permissions. */
  readonly mode: number | undefined;
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
function readAttributes(stats: Partial<Stats>, longname = ''): RemoteAttributes {
  const { mode, size, mtime } = stats;
  const kind = mode === undefined ? 'unknown' : (kinds.get(mode & typeBits) ?? 'other');
  return { kind: kind === 'unknown' ? kindOfLine(longname) : kind, size, mtime: mtime || undefined, mode };
}

function kindOfLine(longname: string): RemoteAttributes['kind'] {
  if (!longForm.test(longname)) return 'unknown';
  if (longname.startsWith('-')) return 'file';
  return longname.startsWith('d') ? 'folder' : 'other';
}

/** What a server does not describe counts as a file: it shows when it is read. */
export function mayBeFile({ kind }: RemoteAttributes): boolean {
  return kind === 'file' || kind === 'unknown';
}

/** @throws SftpError where the server reports no size: then nobody could tell a whole file from a part */
export function sizeOf({ size }: RemoteAttributes, path: string): number {
  if (size !== undefined) return size;
  throw new SftpError('denied', 'no-size', `look at ${path}: the server does not report the size of files`);
}

/** Times are whole seconds: after this long, a clock shows another one. */
const nextSecondMs = 1_100;

/** Looks at a file twice, without reading it in between. */
export async function examineTime(remote: RemoteCalls, path: string): Promise<TimeSource> {
  const first = (await remote.stat(path))?.mtime;
  if (first === undefined) return 'none';
  await pause(nextSecondMs);
  return (await remote.stat(path))?.mtime === first ? 'kept' : 'clock';
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
  seen: Pick<RemoteAttributes, 'size' | 'mtime'>,
): Promise<{ readonly size: number | undefined } | undefined> {
  const now = await remote.stat(path);
  if (now?.size !== seen.size) return { size: now?.size };
  if (now?.mtime === undefined || seen.mtime === undefined || now.mtime === seen.mtime) return undefined;
  if ((await examineTime(remote, path)) === 'kept') return { size: now.size };
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

/** Whether the server answered with the general failure and gave no reason. */
export function isUnexplained(error: unknown): boolean {
  return isStatus(error, status.failure) && !saysDiskFull(error);
}

export function codeOf(error: unknown): string | number | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'number' || typeof error.code === 'string' ? error.code : undefined;
}

export function saysDiskFull(error: unknown): boolean {
  return error instanceof Error && /no space|quota|disk (is )?full/i.test(error.message);
}

import type { FileEntryWithStats, SFTPWrapper, Stats } from 'ssh2';
import type SftpClient from 'ssh2-sftp-client';
import { type RemoteAttributes, readAttributes } from './attributes.js';
import { isStatus, isUnexplained, status } from './failure.js';
import { limitListing } from './limits.js';

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
  /** Sets the permissions of a file. */
  chmod(path: string, mode: number): Promise<void>;
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
    chmod: (path, mode) => tell((answer) => files.chmod(path, mode, answer)),
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

/** The folder of a path, and its last part. */
function splitPath(path: string): { readonly folder: string; readonly name: string } {
  const at = path.lastIndexOf('/');
  return { folder: path.slice(0, Math.max(at, 0)) || (at === 0 ? '/' : '.'), name: path.slice(at + 1) };
}

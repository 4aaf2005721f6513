import { readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import {
  type LocalFile,
  type RemoteFile,
  SftpError,
  type SftpServer,
  type SftpSession,
} from '../../src/transports/sftp/sftp.js';
import type { Outside } from './outside.js';

interface StoredFile {
  readonly bytes: Buffer;
  readonly modifiedAt: number;
}

/** What others will have put there by then. */
interface Announced {
  readonly at: number;
  readonly path: string;
  readonly file: StoredFile;
  readonly replaces: boolean;
}

/** An SFTP server in memory. Others may put files there, now or later. */
export interface SftpDouble extends SftpServer {
  /** A file that grew does not become shorter again. */
  put(path: string, content: string, at?: number): void;
  /** Whatever lies there by then. */
  replace(path: string, content: string, at: number): void;
  /** What was still to come does not come. */
  forgetAnnounced(): void;
  read(path: string): Buffer | undefined;
  /** The content of each file by its path. */
  readAll(): Readonly<Record<string, string>>;
}

/** The names of what a session does. */
export const sftpActions = [
  'list',
  'stat',
  'hasChanged',
  'examineTime',
  'makeFolder',
  'upload',
  'download',
  'readRange',
  'publish',
  'remove',
  'close',
] as const satisfies readonly (keyof SftpSession)[];

export function createSftpDouble({ clock, log }: Outside): SftpDouble {
  const files = new Map<string, StoredFile>();
  let announced: Announced[] = [];

  /** The protocol counts in seconds. */
  const wholeSecond = (at: number) => Math.floor(at / 1000) * 1000;

  function announce(path: string, content: string, at: number, replaces: boolean): void {
    const file = { bytes: Buffer.from(content), modifiedAt: wholeSecond(at) };
    announced.push({ at, path, file, replaces });
  }

  /** What others have put there by now. */
  function current(): Map<string, StoredFile> {
    const due = announced.filter(({ at }) => at <= clock());
    announced = announced.filter(({ at }) => at > clock());
    for (const { path, file, replaces } of due)
      if (replaces || (files.get(path)?.bytes.length ?? 0) < file.bytes.length) files.set(path, file);
    return files;
  }

  function find(path: string): StoredFile {
    const found = current().get(path);
    if (found) return found;
    throw new SftpError('retryable', 'no-such-file', `${path}: no such file on the server`);
  }

  const describe = (path: string, { bytes, modifiedAt }: StoredFile): RemoteFile => ({
    name: posix.basename(path),
    size: bytes.length,
    modifiedAt,
  });

  const session: SftpSession = {
    list: async (folder) =>
      [...current()]
        .filter(([path]) => posix.dirname(path) === folder)
        .map(([path, file]) => describe(path, file)),
    async stat(path) {
      const found = current().get(path);
      return found && describe(path, found);
    },
    async hasChanged(path, seen) {
      const { size, modifiedAt } = describe(path, find(path));
      return size !== seen.size || modifiedAt !== seen.modifiedAt;
    },
    examineTime: async () => 'kept',
    makeFolder: async () => {},
    async upload(local, path) {
      files.set(path, { bytes: readFileSync(pathOf(local)), modifiedAt: wholeSecond(clock()) });
    },
    async download(path, local, { onBytes }) {
      const found = find(path);
      await onBytes?.(Buffer.from(found.bytes));
      writeFileSync(pathOf(local), found.bytes, { mode: 0o600 });
      return describe(path, found);
    },
    readRange: async (path, { from, to }) => find(path).bytes.subarray(from, to),
    async publish(from, to, size) {
      const moved = current().get(from);
      if (moved) {
        files.delete(from);
        files.set(to, moved);
        log.push({ kind: 'published', path: to, bytes: moved.bytes.toString() });
      } else if (find(to).bytes.length !== size) find(from);
      return describe(to, find(to));
    },
    remove: async (path) => (current().delete(path) ? 'removed' : 'absent'),
    close: async () => {},
  };

  return {
    connect: async () => session,
    put: (path, content, at = clock()) => announce(path, content, at, false),
    replace: (path, content, at) => announce(path, content, at, true),
    forgetAnnounced() {
      current();
      announced = [];
    },
    read: (path) => current().get(path)?.bytes,
    readAll: () => Object.fromEntries([...current()].sort().map(([path, { bytes }]) => [path, `${bytes}`])),
  };
}

function pathOf(local: LocalFile): string {
  if (typeof local === 'string') return local;
  throw new TypeError('expected a local file that is stored as it is');
}

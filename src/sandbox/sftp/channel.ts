import { lstatSync, renameSync, type Stats } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rmdir, truncate, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attributes, FileEntry, SFTPWrapper } from 'ssh2';
import { explainFailure, type Jail, normalisePath, type Place, RequestRefused, status } from './jail.js';
import {
  newFolderMode,
  type OpenFile,
  openFile,
  setAttributes,
  toAttributes,
  type WantedAttributes,
} from './open-file.js';

/**
 * What happened on the sandbox's SFTP server. Paths are as in the by-file call: relative to the root, without a leading
 * slash. User names that clients sent are left out: people sometimes type passwords there.
 */
export type SftpEvent =
  | { readonly kind: 'logged-in' }
  | { readonly kind: 'login-refused'; readonly reason: 'wrong-login' | 'no-password' }
  /** Written and closed without errors; `bytes` is the final size. */
  | { readonly kind: 'received'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'removed'; readonly path: string }
  | { readonly kind: 'renamed'; readonly from: string; readonly to: string };

/** A client's SFTP channel. */
export interface SftpChannel {
  /** Resolves once its requests are done and its files closed. Idempotent; never rejects. */
  end(): Promise<void>;
}

interface ChannelOptions {
  readonly jail: Jail;
  readonly onEvent: (event: SftpEvent) => void;
}

/** Sends the reply to the request with this number. Has no effect when the client has left. */
type Reply = (request: number) => void;

/**
 * Answers a client's requests one at a time, in order, so that a close comes after all earlier writes. The rename is that of
 * SFTP 3, which fails when the target exists; ssh2 refuses what nobody listens to: links, and all extensions.
 */
export function serveChannel(channel: SFTPWrapper, { jail, onEvent }: ChannelOptions): SftpChannel {
  const opened = new Map<string, OpenFile | OpenFolder>();
  let handles = 0;
  let queue = Promise.resolve();
  let ended = false;

  const done: Reply = (request) => channel.status(request, status.OK);
  const noMore: Reply = (request) => channel.status(request, status.EOF);

  function answer<Given extends unknown[]>(name: string, act: (...given: Given) => Promise<Reply>): void {
    channel.on(name, (request: number, ...given: Given) => {
      if (ended) return;
      const task = async () => (await act(...given).catch(refuse))(request);
      // Sending fails only when the client has left; `end` follows.
      queue = queue.then(task).catch(() => {});
    });
  }

  function refuse(error: unknown): Reply {
    const failure = explainFailure(error);
    return (request) => channel.status(request, failure.status, failure.message);
  }

  function addHandle(what: OpenFile | OpenFolder): Reply {
    handles += 1;
    const handle = Buffer.alloc(4);
    handle.writeUInt32BE(handles);
    opened.set(handle.toString('hex'), what);
    return (request) => channel.handle(request, handle);
  }

  function find(handle: Buffer): OpenFile | OpenFolder {
    const found = opened.get(handle.toString('hex'));
    if (found === undefined) throw new RequestRefused(status.FAILURE, 'No such handle');
    return found;
  }

  function findFile(handle: Buffer): OpenFile {
    const found = find(handle);
    if (found.kind !== 'file') throw new RequestRefused(status.FAILURE, 'The handle is a folder');
    return found;
  }

  answer('OPEN', async (path: string, flags: number) =>
    addHandle(await openFile(await jail.locate(path), flags)),
  );
  answer('READ', async (handle: Buffer, position: number, length: number) => {
    const data = await findFile(handle).read(position, length);
    return data === undefined ? noMore : (request) => channel.data(request, data);
  });
  answer('WRITE', async (handle: Buffer, position: number, data: Buffer) => {
    await findFile(handle).write(position, data);
    return done;
  });
  answer('FSTAT', async (handle: Buffer) => {
    const attributes = toAttributes(await findFile(handle).stat());
    return (request) => channel.attrs(request, attributes);
  });
  answer('FSETSTAT', async (handle: Buffer, wanted: WantedAttributes) => {
    await findFile(handle).setAttributes(wanted);
    return done;
  });
  answer('CLOSE', async (handle: Buffer) => {
    const closed = find(handle);
    opened.delete(handle.toString('hex'));
    if (closed.kind === 'folder') return done;
    const { receivedBytes } = await closed.close();
    if (receivedBytes !== undefined) onEvent({ kind: 'received', path: closed.path, bytes: receivedBytes });
    return done;
  });

  /** Locates something that may be changed, moved or removed, which excludes the root. */
  async function locateBelowRoot(path: string): Promise<Place> {
    const place = await jail.locate(path);
    if (place.path === '') throw new RequestRefused(status.PERMISSION_DENIED, 'The root cannot be changed');
    return place;
  }

  function describe({ stats }: Place): Reply {
    if (stats === undefined) throw nothingThere();
    return (request) => channel.attrs(request, toAttributes(stats));
  }

  async function rename(from: string, to: string): Promise<Reply> {
    const [source, target] = [await locateBelowRoot(from), await locateBelowRoot(to)];
    // Check and rename synchronously, so that only one of two clients gets the name.
    if (lstatSync(target.onDisk, { throwIfNoEntry: false }) !== undefined) {
      throw new RequestRefused(status.FAILURE, 'The name is already in use');
    }
    renameSync(source.onDisk, target.onDisk);
    onEvent({ kind: 'renamed', from: source.path, to: target.path });
    return done;
  }

  async function remove(path: string, removeFromDisk: (path: string) => Promise<void>): Promise<Reply> {
    const place = await locateBelowRoot(path);
    await removeFromDisk(place.onDisk);
    onEvent({ kind: 'removed', path: place.path });
    return done;
  }

  // Also for paths that don't exist: clients ask before they create a file.
  answer('REALPATH', async (path: string) => {
    const filename = normalisePath(path);
    return (request) => channel.name(request, [{ filename, longname: filename, attrs: {} as Attributes }]);
  });
  answer('STAT', async (path: string) => describe(await jail.locate(path)));
  answer('LSTAT', async (path: string) => describe(await jail.locateLink(path)));
  answer('SETSTAT', async (path: string, wanted: WantedAttributes) => {
    const { onDisk, stats } = await locateBelowRoot(path);
    if (stats === undefined) throw nothingThere();
    const file = {
      stat: () => lstat(onDisk),
      truncate: (size: number) => truncate(onDisk, size),
      chmod: (mode: number) => chmod(onDisk, mode),
      utimes: (atime: number, mtime: number) => utimes(onDisk, atime, mtime),
    };
    await setAttributes(file, wanted);
    return done;
  });
  answer('OPENDIR', async (path: string) => addHandle(await openFolder(await jail.locate(path))));
  answer('READDIR', async (handle: Buffer) => {
    const folder = find(handle);
    if (folder.kind !== 'folder') throw new RequestRefused(status.FAILURE, 'The handle is a file');
    const names = await folder.next();
    return names === undefined ? noMore : (request) => channel.name(request, [...names]);
  });
  answer('MKDIR', async (path: string) => {
    const { onDisk } = await jail.locate(path);
    await mkdir(onDisk, newFolderMode);
    return done;
  });
  answer('RMDIR', (path: string) => remove(path, rmdir));
  answer('REMOVE', (path: string) => remove(path, unlink));
  answer('RENAME', rename);
  /** Files that the client left open don't count as received. */
  async function closeAll(): Promise<void> {
    const left = [...opened.values()];
    opened.clear();
    await Promise.allSettled(left.map((one) => (one.kind === 'file' ? one.close() : undefined)));
  }

  function end(): Promise<void> {
    if (!ended) {
      ended = true;
      // Ending the channel fails when the connection is gone.
      queue = queue
        .then(closeAll)
        .then(() => channel.end())
        .catch(() => {});
    }
    return queue;
  }
  const onEnd = () => void end();
  channel.on('end', onEnd);
  channel.on('close', onEnd);
  // After a malformed packet ssh2 closes the channel itself, but an unhandled error would end the process.
  channel.on('error', onEnd);
  return { end };
}

function nothingThere(): RequestRefused {
  return new RequestRefused(status.NO_SUCH_FILE, 'No such file or folder');
}

/** A folder being listed by a client. */
interface OpenFolder {
  readonly kind: 'folder';
  /** The next entries; undefined when there are no more. */
  next(): Promise<readonly FileEntry[] | undefined>;
}

/** Even with names of maximal length, each sent twice, this fills less than half a packet. */
const entriesPerAnswer = 100;

/** Reads all names at once; entries that have disappeared by the time they are described are left out. */
export async function openFolder(place: Place): Promise<OpenFolder> {
  const names = (await readdir(place.onDisk)).sort();

  const describe = async (name: string): Promise<FileEntry[]> => {
    try {
      const stats = await lstat(join(place.onDisk, name));
      return [{ filename: name, longname: longNameOf(name, stats), attrs: toAttributes(stats) }];
    } catch {
      return [];
    }
  };

  return {
    kind: 'folder',
    async next() {
      while (names.length > 0) {
        const entries = (await Promise.all(names.splice(0, entriesPerAnswer).map(describe))).flat();
        if (entries.length > 0) return entries;
      }
      return undefined;
    },
  };
}

/** Like a line of `ls -l`, with numeric owner and group. People read it. */
function longNameOf(name: string, stats: Stats): string {
  const { nlink, uid, gid, size, mtime } = stats;
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-';
  const bits = [...'rwxrwxrwx'].map((letter, index) => (stats.mode & (0o400 >> index) ? letter : '-'));
  const numbers = [nlink, uid, gid].map((number) => ` ${String(number).padStart(3)}`);
  const [, day, month, year] = mtime.toUTCString().split(' ');
  return `${kind}${bits.join('')}${numbers.join('')} ${String(size).padStart(8)} ${month} ${day}  ${year} ${name}`;
}

import { constants, lstatSync, renameSync, type Stats } from 'node:fs';
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  rmdir,
  stat,
  truncate,
  unlink,
  utimes,
} from 'node:fs/promises';
import { join, posix, sep } from 'node:path';
import ssh2, { type Attributes, type FileEntry, type SFTPWrapper } from 'ssh2';
import { nameReason } from '../common/errors.js';
import { countOf, type Tell } from '../common/tell.js';

const { STATUS_CODE: status, OPEN_MODE } = ssh2.utils.sftp;

/** Files contain guests' names, so only their owner gets access, whatever a client asks for. */
const newFileMode = 0o600;
const newFolderMode = 0o700;
const ownerOnly = 0o700;

/** Limit for one answer: clients accept packets of at most 256 KiB. */
const maxRead = 255 * 1_024;
/** Even with names of maximal length, each sent twice, this fills less than half a packet. */
const entriesPerAnswer = 100;

/** What a handle stands for. */
type Opened =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly file: FileHandle;
      readonly writes: boolean;
      readonly appends: boolean;
    }
  /** The names that were not sent yet. */
  | { readonly kind: 'folder'; readonly path: string; readonly names: string[] };

/** Sends the reply to the request with this number. Has no effect when the client has left. */
type Reply = (request: number) => void;

/** A request that is refused. Its message goes to the client. */
class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
}

/**
 * Answers a client's requests one at a time, in order, so that a close comes after all earlier writes. The rename is that of
 * SFTP 3, which fails when the target exists; ssh2 refuses what nobody listens to: links, and all extensions.
 *
 * @param parts.root the folder that clients see as `/`
 * @param parts.tell paths are told as in the by-file call: relative to the root, without a leading slash
 */
export function serveChannel(
  channel: SFTPWrapper,
  { root, tell }: { readonly root: string; readonly tell: Tell },
) {
  const opened = new Map<string, Opened>();
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
    const reason = nameReason(error);
    // Never Node's own message, which contains paths of this disk.
    const message = error instanceof RequestRefused ? error.message : `Failure (${reason})`;
    return (request) => channel.status(request, statusOf[reason] ?? status.FAILURE, message);
  }

  function addHandle(what: Opened): Reply {
    handles += 1;
    const handle = Buffer.alloc(4);
    handle.writeUInt32BE(handles);
    opened.set(handle.toString('hex'), what);
    return (request) => channel.handle(request, handle);
  }

  function find<Kind extends Opened['kind']>(handle: Buffer, kind: Kind) {
    const found = opened.get(handle.toString('hex'));
    if (found?.kind !== kind) throw new RequestRefused(`No such handle of a ${kind}`);
    return found as Extract<Opened, { readonly kind: Kind }>;
  }

  const onDisk = (path: string) => join(root, locate(path));
  const attributesOf = (stats: Stats): Reply => {
    const attributes = toAttributes(stats);
    return (request) => channel.attrs(request, attributes);
  };

  answer('OPEN', async (path: string, flags: number) => {
    const file = await open(onDisk(path), toDiskFlags(flags), newFileMode);
    const writes = (flags & OPEN_MODE.WRITE) !== 0;
    const appends = (flags & OPEN_MODE.APPEND) !== 0;
    return addHandle({ kind: 'file', path: locate(path), file, writes, appends });
  });
  answer('READ', async (handle: Buffer, position: number, length: number) => {
    const buffer = Buffer.allocUnsafe(Math.min(length, maxRead));
    const { bytesRead } = await find(handle, 'file').file.read(buffer, 0, buffer.length, position);
    return bytesRead === 0 ? noMore : (request) => channel.data(request, buffer.subarray(0, bytesRead));
  });
  answer('WRITE', async (handle: Buffer, position: number, data: Buffer) => {
    const { file, appends } = find(handle, 'file');
    // Linux ignores the position when appending; other systems don't.
    const { bytesWritten } = await file.write(data, 0, data.length, appends ? null : position);
    if (bytesWritten < data.length) throw new RequestRefused('Not all of it could be written');
    return done;
  });
  answer('FSTAT', async (handle: Buffer) => attributesOf(await find(handle, 'file').file.stat()));
  answer('FSETSTAT', async (handle: Buffer, wanted: Partial<Attributes>) => {
    await setAttributes(join(root, find(handle, 'file').path), wanted);
    return done;
  });
  answer('CLOSE', async (handle: Buffer) => {
    const closed = opened.get(handle.toString('hex'));
    if (!closed) throw new RequestRefused('No such handle');
    opened.delete(handle.toString('hex'));
    if (closed.kind === 'folder') return done;
    const { size } = await closed.file.stat();
    await closed.file.close();
    if (closed.writes) tell(`SFTP: received ${closed.path}, ${countOf(size, 'byte')}`);
    return done;
  });

  async function remove(path: string, removeFromDisk: (path: string) => Promise<void>): Promise<Reply> {
    await removeFromDisk(onDisk(path));
    tell(`SFTP: removed ${locate(path)}`);
    return done;
  }

  // Also for paths that don't exist: clients ask before they create a file.
  answer('REALPATH', async (path: string) => {
    const filename = posix.resolve('/', path);
    return (request) => channel.name(request, [{ filename, longname: filename, attrs: {} as Attributes }]);
  });
  answer('STAT', async (path: string) => attributesOf(await stat(onDisk(path))));
  answer('LSTAT', async (path: string) => attributesOf(await lstat(onDisk(path))));
  answer('SETSTAT', async (path: string, wanted: Partial<Attributes>) => {
    await setAttributes(onDisk(path), wanted);
    return done;
  });
  answer('OPENDIR', async (path: string) =>
    addHandle({ kind: 'folder', path: locate(path), names: (await readdir(onDisk(path))).sort() }),
  );
  answer('READDIR', async (handle: Buffer) => {
    const { path, names } = find(handle, 'folder');
    const entries: FileEntry[] = [];
    while (names.length > 0 && entries.length < entriesPerAnswer) {
      const [filename = ''] = names.splice(0, 1);
      // It may have disappeared meanwhile.
      const stats = await lstat(join(root, path, filename)).catch(() => undefined);
      if (stats)
        entries.push({ filename, longname: longNameOf(filename, stats), attrs: toAttributes(stats) });
    }
    return entries.length === 0 ? noMore : (request) => channel.name(request, entries);
  });
  answer('MKDIR', async (path: string) => {
    await mkdir(onDisk(path), newFolderMode);
    return done;
  });
  answer('RMDIR', (path: string) => remove(path, rmdir));
  answer('REMOVE', (path: string) => remove(path, unlink));
  answer('RENAME', async (from: string, to: string) => {
    // Check and rename synchronously, so that only one of two clients gets the name.
    if (lstatSync(onDisk(to), { throwIfNoEntry: false }))
      throw new RequestRefused('The name is already in use');
    renameSync(onDisk(from), onDisk(to));
    tell(`SFTP: renamed ${locate(from)} to ${locate(to)}`);
    return done;
  });

  /** Files that the client left open don't count as received. */
  async function closeAll(): Promise<void> {
    const left = [...opened.values()];
    opened.clear();
    await Promise.allSettled(left.map((one) => (one.kind === 'file' ? one.file.close() : undefined)));
  }

  /** Resolves once its requests are done and its files closed. Idempotent; never rejects. */
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

/** A client's path, relative to the root and without dots: `..` stops there. */
function locate(path: string): string {
  const names = posix.resolve('/', path).slice(1);
  if (sep !== '/' && names.includes(sep)) throw new RequestRefused('Not a valid file name');
  return names;
}

const statusOf: Readonly<Record<string, number>> = {
  ENOENT: status.NO_SUCH_FILE,
  ENOTDIR: status.NO_SUCH_FILE,
  EACCES: status.PERMISSION_DENIED,
  EPERM: status.PERMISSION_DENIED,
  EROFS: status.PERMISSION_DENIED,
};

function toAttributes(stats: Stats): Attributes {
  const { mode, uid, gid, size, atimeMs, mtimeMs } = stats;
  return { mode, uid, gid, size, atime: Math.floor(atimeMs / 1_000), mtime: Math.floor(mtimeMs / 1_000) };
}

/** Absent ones stay unchanged, and so does its owner, whatever is asked for. Times in seconds. */
async function setAttributes(path: string, { size, mode, atime, mtime }: Partial<Attributes>): Promise<void> {
  if (size !== undefined) await truncate(path, size);
  if (mode !== undefined) await chmod(path, mode & ownerOnly);
  if (atime !== undefined && mtime !== undefined) await utimes(path, atime, mtime);
}

const diskFlags: readonly (readonly [asked: number, flag: number])[] = [
  [OPEN_MODE.APPEND, constants.O_APPEND],
  [OPEN_MODE.CREAT, constants.O_CREAT],
  [OPEN_MODE.EXCL, constants.O_EXCL],
  [OPEN_MODE.TRUNC, constants.O_TRUNC],
];

function toDiskFlags(flags: number): number {
  const writing = flags & OPEN_MODE.READ ? constants.O_RDWR : constants.O_WRONLY;
  const access = flags & OPEN_MODE.WRITE ? writing : constants.O_RDONLY;
  return diskFlags.reduce((all, [asked, flag]) => (flags & asked ? all | flag : all), access);
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

import { join } from 'node:path/posix';
import { isUsableForeignName } from '../../base/foreign-text.js';
import { formatDuration } from '../../base/format.js';
import type { Connection } from './connection.js';
import { explainFailure } from './failure.js';
import {
  createRemoteCalls,
  describeFile,
  examineTime,
  findChange,
  findFile,
  isMissing,
  isStatus,
  isUnexplained,
  mayBeFile,
  type RemoteCalls,
  status,
} from './remote-calls.js';
import {
  type ListOptions,
  type RemoteFile,
  retryable,
  SftpError,
  type SftpLimits,
  type SftpSession,
} from './sftp.js';
import {
  downloadFile,
  publishFile,
  ReceiverError,
  readRemoteRange,
  toStoredFile,
  uploadFile,
} from './transfer.js';

interface SessionOptions {
  readonly connection: Connection;
  /** The folder that contains all paths; see joinToRoot. */
  readonly root: string;
  readonly limits: SftpLimits;
  readonly signal: AbortSignal;
  /** Receives the connection of a session that was closed in a clean state. Never throws. */
  readonly giveBack: (connection: Connection) => Promise<void>;
  /** Opens another connection in place of a lost one. */
  readonly reopen: () => Promise<Connection>;
}

/** How often a session opens another connection to publish a file. */
const mostReopened = 2;

/** The operations of a session on an open connection, each subject to the deadlines and the signal. */
export function createSession(options: SessionOptions): SftpSession {
  const { root, limits, signal, giveBack, reopen } = options;
  let connection = options.connection;
  let release = cutOnAbort(connection, signal);
  let closing: Promise<void> | undefined;
  let inHand = 0;
  let hasFailed = false;

  /** Gives the connection back only if nothing unfinished is left on it. */
  function closeSession(): Promise<void> {
    release();
    const isClean = !hasFailed && inHand === 0 && !connection.ended.aborted;
    return isClean ? giveBack(connection) : connection.close();
  }

  async function replaceConnection(): Promise<void> {
    release();
    await connection.close();
    connection = await reopen();
    release = cutOnAbort(connection, signal);
    if (closing !== undefined) await connection.close();
  }

  /** Runs one operation on a path; any failure becomes one of the errors of the port. */
  async function run<T>(
    verb: string,
    path: string,
    action: (remote: RemoteCalls, whole: string) => Promise<T>,
    longestMs = limits.operationMs,
  ): Promise<T> {
    const whole = joinToRoot(root, path);
    const operation = `${verb} ${whole}`;
    const used = connection;
    const lost = (cause: unknown) =>
      retryable('connection-lost', `${operation}: the connection to the SFTP server was lost`, cause);
    signal.throwIfAborted();
    if (closing !== undefined || used.ended.aborted) throw lost(used.ended.reason);

    const deadline = setTimeout(() => {
      const what = `not done after ${formatDuration(longestMs)}, however steady the progress`;
      used.cut(retryable('too-slow', `${what}; the connection was closed`));
    }, longestMs);
    inHand += 1;
    try {
      return await action(createRemoteCalls(used, limits.maxEntries), whole);
    } catch (error) {
      hasFailed = true;
      signal.throwIfAborted();
      const { aborted, reason } = used.ended;
      if (aborted && reason instanceof SftpError)
        throw new SftpError(reason.kind, reason.code, `${operation}: ${reason.message}`);
      if (aborted) throw lost(reason);
      if (error instanceof ReceiverError) throw error.cause;
      throw error instanceof SftpError ? error : explainFailure(operation, error);
    } finally {
      inHand -= 1;
      clearTimeout(deadline);
    }
  }

  const session: SftpSession = {
    list: (folder, how = {}) => run('list', folder, (remote, whole) => listFiles(remote, whole, how)),
    stat: (path) => run('look at', path, findFile),
    async hasChanged(path, seen) {
      const change = await run('look at', path, (remote, whole) => findChange(remote, whole, seen));
      return change !== undefined;
    },
    examineTime: (path) => run('look twice at', path, examineTime),
    makeFolder: (path) =>
      run('make the folder', path, async (remote, whole) => {
        if (await isFolder(remote, whole)) return;
        const parts = path.split('/');
        for (const index of parts.keys())
          await makeOneFolder(remote, joinToRoot(root, parts.slice(0, index + 1).join('/')));
      }),
    upload(local, path, { onProgress } = {}) {
      const upload = (remote: RemoteCalls, whole: string) =>
        uploadFile(remote, toStoredFile(local), whole, limits.lateSizeMs, onProgress);
      return run('upload', path, upload, limits.transferMs);
    },
    download(path, local, how) {
      const download = (remote: RemoteCalls, whole: string) => downloadFile(remote, whole, local, how);
      return run('download', path, download, limits.transferMs);
    },
    readRange: (path, range) => run('read', path, (remote, whole) => readRemoteRange(remote, whole, range)),
    async publish(from, to, size) {
      const source = joinToRoot(root, from);
      let isPublished = false;
      for (let reopened = 0; ; reopened += 1) {
        try {
          const isRepeated = reopened > 0;
          if (!isPublished)
            await run('publish', to, (remote, target) =>
              publishFile(remote, source, target, size, isRepeated),
            );
          isPublished = true;
          return await session.stat(to);
        } catch (error) {
          const isLost = error instanceof SftpError && error.code === 'connection-lost';
          if (!isLost || closing !== undefined || reopened === mostReopened) throw error;
          await replaceConnection();
        }
      }
    },
    remove: (path) => run('remove', path, removeFile),
    close() {
      closing ??= closeSession();
      return closing;
    },
  };
  return session;
}

/** Cuts the connection when the signal aborts. @returns a function that stops this */
function cutOnAbort(connection: Connection, signal: AbortSignal): () => void {
  const onAbort = () => connection.cut(signal.reason);
  const stop = () => signal.removeEventListener('abort', onAbort);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return stop;
}

async function listFiles(
  remote: RemoteCalls,
  folder: string,
  { onUnusableName }: ListOptions,
): Promise<RemoteFile[]> {
  const undescribed: string[] = [];
  const files: RemoteFile[] = [];
  try {
    for await (const { name, attributes } of remote.list(folder)) {
      if (name === '.' || name === '..' || !mayBeFile(attributes)) continue;
      const path = join(folder, name);
      if (!isUsableForeignName(name)) onUnusableName?.(name);
      // A server need not describe what it lists.
      else if (attributes.size === undefined) undescribed.push(path);
      else files.push(describeFile(path, attributes));
    }
  } catch (error) {
    const isAbsent = isMissing(error) || (isUnexplained(error) && !(await remote.stat(folder)));
    if (!isAbsent) throw error;
  }
  for (const path of undescribed) {
    const found = await findFile(remote, path);
    if (found) files.push(found);
  }
  return files;
}

async function isFolder(remote: RemoteCalls, path: string): Promise<boolean> {
  const kind = (await remote.stat(path))?.kind;
  return kind === 'unknown' ? remote.isListable(path) : kind === 'folder';
}

async function makeOneFolder(remote: RemoteCalls, path: string): Promise<void> {
  if (await isFolder(remote, path)) return;
  try {
    await remote.makeFolder(path);
  } catch (error) {
    // Another worker may have created it meanwhile.
    if (!(await isFolder(remote, path))) throw error;
  }
}

async function removeFile(remote: RemoteCalls, path: string): Promise<'removed' | 'absent' | 'denied'> {
  try {
    await remote.unlink(path);
    return 'removed';
  } catch (error) {
    if (isMissing(error)) return 'absent';
    if (isStatus(error, status.permissionDenied, status.writeProtected, status.unsupported)) return 'denied';
    // A read-only disk, for example, causes a failure without a reason.
    if (isStatus(error, status.failure)) return (await remote.stat(path)) === undefined ? 'absent' : 'denied';
    throw error;
  }
}

/**
 * Joins a path to the root with exactly one slash. An empty root means the folder that the login starts in.
 *
 * @throws RangeError for a path that could leave the root: a leading slash, a `..`, a backslash or NUL
 */
export function joinToRoot(root: string, path: string): string {
  if (path.startsWith('/') || /[\\\0]/.test(path) || path.split('/').includes('..')) {
    throw new RangeError(`not a path below the SFTP root: ${JSON.stringify(path)}`);
  }
  const base = root.replace(/\/+$/, '');
  if (path === '') return base || (root === '' ? '.' : '/');
  return base === '' && root === '' ? path : `${base}/${path}`;
}

import { isUsableForeignName } from '../../base/foreign-text.js';
import { formatDuration } from '../../base/format.js';
import type { Connection } from './connection.js';
import { downloadFile, readRemoteRange } from './download.js';
import { explainFailure } from './failure.js';
import {
  createRemoteCalls,
  examineTime,
  findChange,
  isStatus,
  isUnexplained,
  mayBeFile,
  type RemoteAttributes,
  type RemoteCalls,
  type RemoteEntry,
  sizeOf,
  status,
} from './remote-calls.js';
import { type RemoteFile, SftpError, type SftpLimits, type SftpSession } from './sftp.js';
import { publishFile, uploadFile } from './upload.js';

interface SessionOptions {
  readonly connection: Connection;
  /** The folder that contains all paths; see joinToRoot. */
  readonly root: string;
  readonly noProgressMs: number;
  readonly limits: SftpLimits;
  readonly signal: AbortSignal;
  /** Receives the connection of a session that was closed in a clean state. Never throws. */
  readonly giveBack: (connection: Connection) => Promise<void>;
  /** Opens another connection in place of a lost one. */
  readonly reopen: () => Promise<Connection>;
}

/** How often a session opens another connection to publish a file. */
const mostReopened = 2;

/** The operations of a session on an open connection, each subject to the deadline and the signal. */
export function createSession(options: SessionOptions): SftpSession {
  const { root, noProgressMs, limits, signal, giveBack, reopen } = options;
  let connection = options.connection;
  let release = cutOnAbort(connection, signal);
  let closing: Promise<void> | undefined;
  let inHand = 0;
  let hasFailed = false;

  /** Gives the connection back only if nothing unfinished is left on it. */
  function closeSession(): Promise<void> {
    release();
    const isClean = !hasFailed && inHand === 0 && connection.ended() === undefined;
    return isClean ? giveBack(connection) : connection.close();
  }

  async function replaceConnection(): Promise<void> {
    release();
    await connection.close();
    connection = await reopen();
    release = cutOnAbort(connection, signal);
    if (closing !== undefined) await connection.close();
  }

  const lost = (operation: string, cause: unknown) => {
    const message = `${operation}: the connection to the SFTP server was lost`;
    return new SftpError('retryable', 'connection-lost', message, { cause });
  };

  /** Runs one operation; any failure becomes one of the errors of the port. */
  const run = async <T>(
    operation: string,
    action: (remote: RemoteCalls) => Promise<T>,
    longestMs = limits.operationMs,
  ): Promise<T> => {
    signal.throwIfAborted();
    const before =
      closing !== undefined ? { reason: new Error('the session was closed') } : connection.ended();
    if (before !== undefined) throw lost(operation, before.reason);

    let ownEnd: SftpError | undefined;
    const cut = (code: string, what: string) => {
      ownEnd ??= new SftpError('retryable', code, `${operation}: ${what}; the connection was closed`);
      connection.cut(ownEnd);
    };
    const watchdog = createWatchdog(noProgressMs, () =>
      cut('no-progress', `no answer from the SFTP server for ${noProgressMs / 1_000} s`),
    );
    const deadline = setTimeout(
      () => cut('too-slow', `not done after ${formatDuration(longestMs)}, however steady the progress`),
      longestMs,
    );
    const { client, files, whenEnded } = connection;
    const onAnswer = watchdog.progressed;
    const { maxEntries } = limits;
    inHand += 1;
    try {
      return await action(createRemoteCalls({ client, files, maxEntries, onAnswer, whenEnded }));
    } catch (error) {
      hasFailed = true;
      signal.throwIfAborted();
      if (ownEnd !== undefined) throw ownEnd;
      const ended = connection.ended();
      if (ended !== undefined) throw lost(operation, ended.reason);
      throw error instanceof SftpError ? error : explainFailure(operation, error);
    } finally {
      inHand -= 1;
      watchdog.stop();
      clearTimeout(deadline);
    }
  };

  const session: SftpSession = {
    async list(folder, { onUnusableName } = {}) {
      const path = joinToRoot(root, folder);
      return run(`list ${path}`, async (remote) => {
        const found: RemoteEntry[] = [];
        await listFolder(remote, path, (entries) => {
          for (const entry of entries) {
            const { name, attributes } = entry;
            if (name === '.' || name === '..' || !mayBeFile(attributes)) continue;
            if (isUsableForeignName(name)) found.push(entry);
            else onUnusableName?.(name);
          }
        });
        const files: RemoteFile[] = [];
        for (const entry of found) {
          const { name } = entry;
          const whole = joinToRoot(root, folder === '' ? name : `${folder}/${name}`);
          // A server need not describe what it lists.
          const isDescribed = entry.attributes.size !== undefined;
          const attributes = isDescribed ? entry.attributes : await remote.stat(whole);
          if (attributes && mayBeFile(attributes)) files.push(describe(whole, attributes));
        }
        return files;
      });
    },

    async stat(path) {
      const remotePath = joinToRoot(root, path);
      const found = await run(`look at ${remotePath}`, (remote) => remote.stat(remotePath));
      return found && mayBeFile(found) ? describe(remotePath, found) : undefined;
    },

    async hasChanged(path, { size, modifiedAt }) {
      const remotePath = joinToRoot(root, path);
      const seen = { size, mtime: modifiedAt === undefined ? undefined : modifiedAt / 1_000 };
      const change = await run(`look at ${remotePath}`, (remote) => findChange(remote, remotePath, seen));
      return change !== undefined;
    },

    async examineTime(path) {
      const remotePath = joinToRoot(root, path);
      return run(`look twice at ${remotePath}`, (remote) => examineTime(remote, remotePath));
    },

    async makeFolder(path) {
      const whole = joinToRoot(root, path);
      const parts = path.split('/');
      return run(`make the folder ${whole}`, async (remote) => {
        if (await isFolder(remote, whole)) return;
        for (const index of parts.keys()) {
          await makeOneFolder(remote, joinToRoot(root, parts.slice(0, index + 1).join('/')));
        }
      });
    },

    async upload(local, path, options = {}) {
      const remotePath = joinToRoot(root, path);
      const upload = (remote: RemoteCalls) => uploadFile(remote, local, remotePath, options);
      await run(`upload ${remotePath}`, upload, limits.transferMs);
    },

    async download(path, local, { onBytes, ...options }) {
      const remotePath = joinToRoot(root, path);
      let failure: { readonly reason: unknown } | undefined;
      const handOn = async (bytes: Uint8Array) =>
        onBytes?.(bytes).catch((reason: unknown) => {
          failure = { reason };
          throw reason;
        });
      try {
        const whole = { ...options, onBytes: handOn };
        const download = (remote: RemoteCalls) => downloadFile(remote, remotePath, local, whole);
        const found = await run(`download ${remotePath}`, download, limits.transferMs);
        return describe(remotePath, found);
      } catch (error) {
        throw failure === undefined ? error : failure.reason;
      }
    },

    async readRange(path, range) {
      const remotePath = joinToRoot(root, path);
      return run(`read ${remotePath}`, (remote) => readRemoteRange(remote, remotePath, range));
    },

    async readEnd(path, length) {
      const remotePath = joinToRoot(root, path);
      return run(`read the end of ${remotePath}`, async (remote) => {
        const found = await remote.stat(remotePath);
        if (found && mayBeFile(found)) {
          const to = sizeOf(found, remotePath);
          const range = { from: Math.max(0, to - length), to };
          return readRemoteRange(remote, remotePath, range);
        }
        const message = `read the end of ${remotePath}: no such file on the server`;
        throw new SftpError('retryable', 'no-such-file', message);
      });
    },

    async publish(from, to, size) {
      const [source, target] = [joinToRoot(root, from), joinToRoot(root, to)];
      let isPublished = false;
      for (let reopened = 0; ; reopened += 1) {
        try {
          if (!isPublished)
            await run(`publish ${target}`, (remote) =>
              publishFile(remote, source, target, size, reopened > 0),
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

    async remove(path) {
      const remotePath = joinToRoot(root, path);
      return run(`remove ${remotePath}`, (remote) => removeFile(remote, remotePath));
    },

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
  signal.addEventListener('abort', onAbort, { once: true });
  const stopListening = () => signal.removeEventListener('abort', onAbort);
  const stopWatching = connection.whenEnded(stopListening);
  if (signal.aborted) onAbort();
  return () => {
    stopListening();
    stopWatching();
  };
}

function describe(path: string, attributes: RemoteAttributes): RemoteFile {
  const { mtime } = attributes;
  const name = baseName(path);
  return { name, size: sizeOf(attributes, path), ...(mtime !== undefined && { modifiedAt: mtime * 1_000 }) };
}

async function listFolder(
  remote: RemoteCalls,
  path: string,
  take: (entries: readonly RemoteEntry[]) => void,
): Promise<void> {
  try {
    await remote.list(path, take);
  } catch (error) {
    if (isStatus(error, status.noSuchFile, status.noSuchPath)) return;
    if (isUnexplained(error) && (await remote.stat(path)) === undefined) return;
    throw error;
  }
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
    if (isStatus(error, status.noSuchFile, status.noSuchPath)) return 'absent';
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

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Calls `onStalled` once when `deadlineMs` pass without progress. */
export function createWatchdog(deadlineMs: number, onStalled: () => void) {
  let stopped = false;
  let progress = 0;

  const timer = setTimeout(() => {
    const before = progress;
    // If this process was frozen or busy, answers may be waiting: let them be read first.
    setImmediate(() => {
      if (stopped) return;
      if (progress > before) timer.refresh();
      else onStalled();
    });
  }, deadlineMs);

  return {
    progressed() {
      progress += 1;
      if (!stopped) timer.refresh();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

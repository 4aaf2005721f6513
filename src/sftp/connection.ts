import { connect as connectSocket, type Socket } from 'node:net';
import type { ParsedKey, SFTPWrapper } from 'ssh2';
import type SftpClient from 'ssh2-sftp-client';
import { explainConnectFailure, refuseHostKey } from './failure.js';
import {
  algorithms,
  chooseAuthentication,
  describeHostKey,
  type HostKeys,
  type PresentedKey,
} from './login.js';
import { SftpError } from './sftp.js';

export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string | undefined;
  readonly key: ParsedKey | undefined;
  readonly hostKeys: HostKeys;
  readonly connectTimeoutMs: number;
  readonly keepAliveSeconds: number;
}

export interface Connection {
  readonly client: SftpClient;
  readonly files: SFTPWrapper;
  /** Undefined while the connection lives. */
  ended(): { readonly reason: unknown } | undefined;
  /** Calls back once when the connection ends, at once if it has ended, unless the returned function was called before. */
  whenEnded(callBack: (reason: unknown) => void): () => void;
  /** Ends it at once, without notifying the server. */
  cut(reason: unknown): void;
  /** Disconnects gracefully, and cuts the connection when the server does not close it soon. Never throws. */
  close(): Promise<void>;
}

/** How long the server may take to close the connection after we disconnect. */
const disconnectMs = 1_000;

/**
 * Opens TCP, SSH and the SFTP subsystem under one deadline.
 *
 * We create the socket ourselves, because ssh2 destroys its own only while it is writable, and `end()` may wait for ever.
 *
 * @throws SftpError, or the signal's reason
 */
export async function openConnection(options: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
  // Loaded for the first connection: a delivery by body needs none.
  const { default: Client } = await import('ssh2-sftp-client');
  signal.throwIfAborted();
  const { host, port, username, connectTimeoutMs } = options;
  const server = `${host}:${port}`;

  const socket = connectSocket({ host, port, noDelay: true });
  let firstError: unknown;
  // ssh2 emits further errors after the first; without a listener each would end the process.
  const remember = (error: unknown) => {
    firstError ??= error;
  };
  socket.on('error', remember);
  const client = new Client('sftp', { error: remember, end() {}, close() {} });
  client.on('error', remember);

  let late = false;
  const deadline = setTimeout(() => {
    late = true;
    socket.destroy();
  }, connectTimeoutMs);
  const onAbort = () => socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });

  let refused: PresentedKey | undefined;
  try {
    const files = await client.connect({
      sock: socket,
      username,
      algorithms,
      hostVerifier: (key: Buffer) => {
        const presented = describeHostKey(key);
        if (options.hostKeys.trust(presented)) return true;
        refused = presented;
        return false;
      },
      authHandler: chooseAuthentication(options),
      readyTimeout: 0,
      keepaliveInterval: options.keepAliveSeconds * 1_000,
      keepaliveCountMax: 3,
    });
    signal.throwIfAborted();
    return watchConnection({ socket, client, files, firstError: () => firstError });
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    if (refused !== undefined) throw refuseHostKey(server, refused);
    if (late) {
      const seconds = connectTimeoutMs / 1_000;
      throw new SftpError(
        'retryable',
        'connect-timeout',
        `SFTP server ${server}: no session within ${seconds} s`,
      );
    }
    throw explainConnectFailure(server, username, firstError ?? error);
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', onAbort);
  }
}

interface OpenedConnection {
  readonly socket: Socket;
  readonly client: SftpClient;
  readonly files: SFTPWrapper;
  readonly firstError: () => unknown;
}

/** Watches an open connection until it has ended, for whatever reason. */
function watchConnection({ socket, client, files, firstError }: OpenedConnection): Connection {
  let end: { readonly reason: unknown } | undefined;
  const waiting = new Set<(reason: unknown) => void>();

  const finish = (reason: unknown) => {
    if (end !== undefined) return;
    end = { reason };
    for (const callBack of [...waiting]) callBack(reason);
    waiting.clear();
  };
  const cut = (reason: unknown) => {
    finish(reason);
    socket.destroy();
  };
  const onEnd = () => cut(firstError() ?? new Error('the server closed the connection'));

  // The server may also close only the channel and leave the connection open.
  for (const event of ['end', 'close'] as const) {
    socket.on(event, onEnd);
    files.on(event, onEnd);
  }
  socket.on('error', cut);
  client.on('error', cut);
  files.on('error', cut);
  if (socket.destroyed || socket.readableEnded) onEnd();

  const disconnect = async () => {
    if (socket.destroyed) return;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const timer = setTimeout(() => socket.destroy(), disconnectMs);
    client.end().catch(() => {});
    await closed;
    clearTimeout(timer);
  };
  let disconnecting: Promise<void> | undefined;

  return {
    client,
    files,
    ended: () => end,
    whenEnded(callBack) {
      if (end === undefined) waiting.add(callBack);
      else callBack(end.reason);
      return () => waiting.delete(callBack);
    },
    cut,
    close() {
      finish(new Error('the session was closed'));
      disconnecting ??= disconnect();
      return disconnecting;
    },
  };
}

import { connect as connectSocket, type Socket } from 'node:net';
import type { Client, SFTPWrapper } from 'ssh2';
import { startTimeLimit } from '../../base/abort.js';
import { explainConnectFailure } from './failure.js';
import {
  algorithms,
  chooseAuthentication,
  describeHostKey,
  type PresentedKey,
  readPrivateKey,
} from './login.js';
import { retryable, SftpError } from './sftp.js';

export interface SftpLogin {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password?: string;
  /** Read for every connection, so that a new key needs no restart. */
  readonly privateKeyFile?: string;
  /** For TCP, SSH and login together. Default 20,000. */
  readonly connectTimeoutMs?: number;
  /** Requests without any answer for this long end the connection. Default 30,000. */
  readonly noProgressMs?: number;
  /** Interval of keep-alives on an idle connection; three unanswered ones end it. Default 10. */
  readonly keepAliveSeconds?: number;
}

/** Takes the server's answer: an Error with its status as `code`, or the value. */
export type Answer<T> = (error?: Error | null, value?: T) => void;

export type Connection = ReturnType<typeof watchConnection>;

/** How long the server may take to close the connection after we disconnect. */
const disconnectMs = 1_000;

/**
 * Opens TCP, SSH and the SFTP subsystem under one deadline.
 *
 * We create the socket ourselves, because ssh2 destroys its own only while it is writable, and `end()` may wait for ever.
 *
 * @throws SftpError, or the signal's reason
 */
export async function openConnection(
  login: SftpLogin,
  trusts: (key: PresentedKey) => boolean,
  signal: AbortSignal,
) {
  const { host, port, username, password, privateKeyFile } = login;
  const { connectTimeoutMs = 20_000, noProgressMs = 30_000, keepAliveSeconds = 10 } = login;
  const key = privateKeyFile === undefined ? undefined : await readPrivateKey(privateKeyFile);
  // Loaded for the first connection: a delivery by body needs none.
  const { default: ssh2 } = await import('ssh2');
  signal.throwIfAborted();
  const server = `${host}:${port}`;
  const limit = startTimeLimit(signal, connectTimeoutMs, () =>
    retryable('connect-timeout', `SFTP server ${server}: no session within ${connectTimeoutMs / 1_000} s`),
  );
  const socket = connectSocket({ host, port, noDelay: true });
  limit.signal.addEventListener('abort', () => socket.destroy(), { once: true });
  const client = new ssh2.Client();
  let refused: PresentedKey | undefined;
  try {
    const files = await new Promise<SFTPWrapper>((resolve, reject) => {
      // They stay: either emits further errors after the first, and without a listener each would end the process.
      socket.on('error', reject);
      client.on('error', reject);
      client.on('close', () => reject(new Error('the server closed the connection')));
      client.on('ready', () => client.sftp((error, opened) => (error ? reject(error) : resolve(opened))));
      client.connect({
        sock: socket,
        username,
        algorithms,
        hostVerifier: (presented: Buffer) => {
          const described = describeHostKey(presented);
          if (trusts(described)) return true;
          refused = described;
          return false;
        },
        authHandler: chooseAuthentication(username, password, key),
        readyTimeout: 0,
        keepaliveInterval: keepAliveSeconds * 1_000,
        keepaliveCountMax: 3,
      });
    });
    limit.signal.throwIfAborted();
    return watchConnection(socket, client, files, noProgressMs);
  } catch (error) {
    socket.destroy();
    limit.signal.throwIfAborted();
    throw refused === undefined
      ? explainConnectFailure(server, username, error)
      : refuseHostKey(server, refused);
  } finally {
    limit.stop();
  }
}

function refuseHostKey(server: string, { fingerprint, type }: PresentedKey): SftpError {
  return new SftpError(
    'fatal',
    'host-key-refused',
    `SFTP server ${server}: it presented the host key ${fingerprint} (${type}), which is not pinned. ` +
      'Ask its operator for the fingerprint. If it matches, add it to hostKey; if not, another machine is answering.',
  );
}

/** Watches an open connection until it has ended, for whatever reason. */
function watchConnection(socket: Socket, client: Client, files: SFTPWrapper, noProgressMs: number) {
  const over = new AbortController();
  const waiting = new Set<(reason: unknown) => void>();
  let answers = 0;

  const watchdog = setTimeout(() => {
    const before = answers;
    // If this process was frozen or busy, answers may be waiting: let them be read first.
    setImmediate(() => {
      if (waiting.size === 0 || answers > before) return;
      const what = `no answer from the SFTP server for ${noProgressMs / 1_000} s`;
      cut(retryable('no-progress', `${what}; the connection was closed`));
    });
  }, noProgressMs);

  function end(reason: unknown): void {
    clearTimeout(watchdog);
    over.abort(reason);
    for (const reject of waiting) reject(reason);
  }

  /** Ends it at once, without notifying the server. */
  function cut(reason: unknown): void {
    end(reason);
    socket.destroy();
  }

  // The server may also close only the channel and leave the connection open.
  for (const part of [socket, client, files] as NodeJS.EventEmitter[]) {
    part.on('error', cut);
    for (const event of ['end', 'close'])
      part.on(event, () => cut(new Error('the server closed the connection')));
  }
  if (socket.destroyed || socket.readableEnded) cut(new Error('the server closed the connection'));

  return {
    files,
    /** Aborted once it has ended, with the reason. */
    ended: over.signal,
    cut,
    /**
     * A request as a promise that always settles: ssh2 does not call back when the connection is lost at certain moments
     * (mscdex/ssh2#1490).
     */
    ask<T>(start: (answer: Answer<T>) => void): Promise<T> {
      let asker = (_reason: unknown) => {};
      const asked = new Promise<T>((resolve, reject) => {
        over.signal.throwIfAborted();
        if (waiting.size === 0) watchdog.refresh();
        asker = reject;
        waiting.add(asker);
        start((error, value) => {
          answers += 1;
          if (!over.signal.aborted) watchdog.refresh();
          if (error) reject(error);
          else resolve(value as T);
        });
      });
      return asked.finally(() => waiting.delete(asker));
    },
    /** Disconnects gracefully, and cuts the connection when the server does not close it soon. Never throws. */
    async close(): Promise<void> {
      end(new Error('the session was closed'));
      if (socket.destroyed) return;
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const timer = setTimeout(() => socket.destroy(), disconnectMs);
      client.end();
      await closed;
      clearTimeout(timer);
    },
  };
}

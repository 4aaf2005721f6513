import { type Connection, openConnection, pinHostKeys, readPrivateKey } from './connection.js';
import { createSession } from './session.js';
import { defaultLimits, type SftpLimits, type SftpServer } from './sftp.js';

export interface SftpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password?: string;
  /** Read for every connection, so that a new key needs no restart. */
  readonly privateKeyFile?: string;
  /** Fingerprints of the trusted host keys, as `ssh-keygen -l` prints them: `SHA256:…`. Any other key is refused. */
  readonly hostKeys: readonly string[];
  /** The folder that contains all paths; empty for the one that the login starts in. */
  readonly root: string;
  /** For TCP, SSH and login together. Default 20,000. */
  readonly connectTimeoutMs?: number;
  /** An operation without any answer for this long ends the connection. Default 30,000. */
  readonly noProgressMs?: number;
  /** Where they differ from `defaultLimits`. */
  readonly limits?: Partial<SftpLimits>;
  /** Interval of keep-alives on an idle connection; three unanswered ones end it. Default 10. */
  readonly keepAliveSeconds?: number;
  /** Consecutive sessions share a connection; without this each has its own. */
  readonly keep?: KeepOptions;
}

export interface ClosableSftpServer extends SftpServer {
  /** Closes the connection kept for the next session, and keeps no more. Idempotent; never throws. */
  close(): Promise<void>;
}

/** How long a kept connection may take to show that it still answers. */
const answerMs = 2_000;

/**
 * An SFTP server that is trusted by its pinned host keys.
 *
 * @throws RangeError when no host key is pinned, or one is not a SHA-256 fingerprint
 */
export function createSftpServer(options: SftpServerOptions): ClosableSftpServer {
  const { host, port, username, root, noProgressMs = 30_000 } = options;
  if (options.hostKeys.length === 0)
    throw new RangeError('an SFTP server needs at least one pinned host key');
  const trusts = pinHostKeys(options.hostKeys);
  const keeper = options.keep && createConnectionKeeper(options.keep);
  const limits = { ...defaultLimits, ...options.limits };

  async function open(signal: AbortSignal): Promise<Connection> {
    const { privateKeyFile } = options;
    return openConnection(
      {
        host,
        port,
        username,
        password: options.password,
        key: privateKeyFile === undefined ? undefined : await readPrivateKey(privateKeyFile),
        trusts,
        connectTimeoutMs: options.connectTimeoutMs ?? 20_000,
        keepAliveSeconds: options.keepAliveSeconds ?? 10,
      },
      signal,
    );
  }

  /** Tests the kept connection: the server, or a firewall, may have dropped it silently. */
  async function takeKept(signal: AbortSignal): Promise<Connection | undefined> {
    const connection = keeper?.take();
    if (!connection) return undefined;
    const trial = createSession({
      connection,
      root,
      noProgressMs: answerMs,
      limits,
      signal,
      giveBack: async () => {},
      reopen: () => open(signal),
    });
    try {
      await trial.stat('');
      return connection;
    } catch {
      signal.throwIfAborted();
      return undefined;
    } finally {
      await trial.close();
    }
  }

  const giveBack = (connection: Connection) => keeper?.keep(connection) ?? connection.close();

  return {
    async connect({ signal }) {
      signal.throwIfAborted();
      const connection = (await takeKept(signal)) ?? (await open(signal));
      const reopen = () => open(signal);
      return createSession({ connection, root, noProgressMs, limits, signal, giveBack, reopen });
    },
    close: async () => keeper?.close(),
  };
}

interface KeepOptions {
  /** How long an unused connection stays open. */
  readonly idleMs: number;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Keeps one connection between uses, which saves the next one handshake, key exchange and login. */
interface ConnectionKeeper {
  /** The kept connection, which then belongs to the caller; undefined where none is alive. */
  take(): Connection | undefined;
  /** Keeps it, or closes it if another one is kept already. Never throws. */
  keep(connection: Connection): Promise<void>;
  /** Closes the kept connection, and keeps none from now on. Idempotent; never throws. */
  close(): Promise<void>;
}

function createConnectionKeeper({ idleMs, clock }: KeepOptions): ConnectionKeeper {
  let kept: { readonly connection: Connection; readonly until: number; release(): void } | undefined;
  let isClosed = false;

  function takeOut() {
    const taken = kept;
    kept = undefined;
    taken?.release();
    return taken;
  }

  return {
    take() {
      const taken = takeOut();
      if (!taken) return undefined;
      const { connection, until } = taken;
      if (connection.ended() === undefined && clock() < until) return connection;
      // A process that was frozen has missed its timers.
      connection.cut(new Error('the connection was idle for too long'));
      return undefined;
    },

    async keep(connection) {
      if (isClosed || kept || connection.ended() !== undefined) return connection.close();
      const timer = setTimeout(() => void takeOut()?.connection.close(), idleMs).unref();
      const stopWatching = connection.whenEnded(() => takeOut());
      const release = () => {
        clearTimeout(timer);
        stopWatching();
      };
      kept = { connection, until: clock() + idleMs, release };
    },

    async close() {
      isClosed = true;
      await takeOut()?.connection.close();
    },
  };
}

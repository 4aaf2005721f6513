import { answerWithin, orAborted } from '../../base/abort.js';
import { type Connection, openConnection, type SftpLogin } from './connection.js';
import type { PresentedKey } from './login.js';
import { createSession } from './session.js';
import { defaultLimits, type SftpLimits, type SftpSession } from './sftp.js';

export interface SftpServerOptions extends SftpLogin {
  /** Fingerprints of the trusted host keys, as `ssh-keygen -l` prints them: `SHA256:…`. Any other key is refused. */
  readonly hostKeys: readonly string[];
  /** The folder that contains all paths; empty for the one that the login starts in. */
  readonly root: string;
  /** Where they differ from `defaultLimits`. */
  readonly limits?: Partial<SftpLimits>;
  /** Consecutive sessions share a connection; without this each has its own. */
  readonly keep?: KeepOptions;
}

export type ClosableSftpServer = ReturnType<typeof createSftpServer>;

/** How long a kept connection may take to show that it still answers. */
const answerMs = 2_000;

/** An SFTP server that is trusted by its pinned host keys. */
export function createSftpServer(options: SftpServerOptions) {
  const { root } = options;
  const pinned = new Set(options.hostKeys.map((fingerprint) => fingerprint.replace(/=$/, '')));
  const trusts = ({ fingerprint }: PresentedKey) => pinned.has(fingerprint);
  const keeper = options.keep && createConnectionKeeper(options.keep);
  const limits = { ...defaultLimits, ...options.limits };

  const open = (signal: AbortSignal) => openConnection(options, trusts, signal);
  const giveBack = (connection: Connection) => keeper?.keep(connection) ?? connection.close();

  /** The kept connection, if it still answers: the server, or a firewall, may have dropped it silently. */
  async function takeKept(signal: AbortSignal): Promise<Connection | undefined> {
    const connection = keeper?.take();
    if (!connection) return undefined;
    const { files, ask } = connection;
    try {
      const answer = answerWithin(
        answerMs,
        ask<string>((done) => files.realpath('.', done)),
      );
      if ((await orAborted(answer, signal)) !== 'aborted') return connection;
    } catch {
      // Then it is of no use.
    }
    connection.cut(new Error('the kept connection does not answer'));
    signal.throwIfAborted();
    return undefined;
  }

  return {
    async connect({ signal }: { readonly signal: AbortSignal }): Promise<SftpSession> {
      signal.throwIfAborted();
      const connection = (await takeKept(signal)) ?? (await open(signal));
      return createSession({ connection, root, limits, signal, giveBack, reopen: () => open(signal) });
    },
    /** Closes the connection kept for the next session, and keeps no more. Idempotent; never throws. */
    close: async (): Promise<void> => keeper?.close(),
  };
}

interface KeepOptions {
  /** How long an unused connection stays open. */
  readonly idleMs: number;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Keeps one connection between uses, which saves the next one handshake, key exchange and login. */
function createConnectionKeeper({ idleMs, clock }: KeepOptions) {
  let kept: Connection | undefined;
  let keptUntil = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function release(): Connection | undefined {
    const released = kept;
    clearTimeout(timer);
    kept = undefined;
    return released;
  }

  return {
    /** The kept connection, which then belongs to the caller; undefined where none is alive. */
    take(): Connection | undefined {
      const taken = release();
      if (taken && !taken.ended.aborted && clock() < keptUntil) return taken;
      // A process that was frozen has missed its timers.
      taken?.cut(new Error('the connection was idle for too long'));
      return undefined;
    },

    /** Keeps it, or closes it if another one is kept already. Never throws. */
    async keep(connection: Connection): Promise<void> {
      const hasOther = kept?.ended.aborted === false;
      if (isClosed || hasOther || connection.ended.aborted) return connection.close();
      release();
      kept = connection;
      keptUntil = clock() + idleMs;
      timer = setTimeout(() => void release()?.close(), idleMs).unref();
    },

    /** Closes the kept connection, and keeps none from now on. Idempotent; never throws. */
    async close(): Promise<void> {
      isClosed = true;
      await release()?.close();
    },
  };
}

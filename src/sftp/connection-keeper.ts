import type { Connection } from './connection.js';

export interface KeepOptions {
  /** How long a connection that nobody uses stays open. */
  readonly idleMs: number;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Keeps one connection between its uses, so that the next needs no greeting, key exchange and login of its own. */
export interface ConnectionKeeper {
  /** The kept connection, which is the caller's from now on; undefined where none is left that lives. */
  take(): Connection | undefined;
  /** Keeps it, or closes it where another is kept already. Never throws. */
  keep(connection: Connection): Promise<void>;
  /** Closes what is kept, and keeps nothing from now on. Idempotent; never throws. */
  close(): Promise<void>;
}

export function createConnectionKeeper({ idleMs, clock }: KeepOptions): ConnectionKeeper {
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
      // A process that was frozen meanwhile has missed its timers.
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

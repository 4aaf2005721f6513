import { Redis } from 'ioredis';
import { QueueAwayError } from './queue.js';

/** How long a peer has to say goodbye. */
const disconnectMs = 500;
const longestRetryMs = 1_000;
/** Where a connection ends without a word. */
const brokenConnection = 'the connection broke';

/** Told once when the server goes away and once when it is back, however often it was tried. Holds no password. */
export type QueueNotice =
  | { readonly type: 'queue-away'; readonly address: string; readonly reason: string }
  | { readonly type: 'queue-back'; readonly address: string };

export interface RedisConnectionOptions {
  /** `redis://` or `rediss://`, with user, password and database number where needed. */
  readonly url: string;
  /** How long an answer may take. */
  readonly answerMs: number;
  readonly onNotice: (notice: QueueNotice) => void;
}

export interface RedisConnection {
  readonly client: Redis;
  /** @throws QueueAwayError when there is no answer in time, or a refusal; what was asked may happen all the same */
  answered<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
  /** Another connection of the same kind, for commands that block. */
  duplicate(): Redis;
  close(): void;
}

/** Connects at once, in the background, and again whenever the connection breaks. */
export function openRedisConnection({ url, answerMs, onNotice }: RedisConnectionOptions): RedisConnection {
  const address = describeRedis(url);
  const client = openClient();
  const whenReady = new Set<() => void>();
  let reason = brokenConnection;
  let isAway = false;
  let isClosed = false;

  client.on('error', (error) => {
    reason = error.message;
  });
  client.on('ready', () => {
    isAsked = false;
    reason = brokenConnection;
    for (const proceed of whenReady) proceed();
    if (isAway) onNotice({ type: 'queue-back', address });
    isAway = false;
  });
  client.on('close', () => {
    isAsked = false;
    tellAway();
  });

  // A peer that falls silent breaks no connection: it is asked now and then, and given up when it does not answer.
  let isAsked = false;
  const watch = setInterval(() => {
    if (isAsked) {
      isAsked = false;
      reason = `no answer within ${answerMs} ms`;
      tellAway();
      client.disconnect(true);
      return;
    }
    isAsked = client.status === 'ready' || client.status === 'connect';
    if (client.status !== 'ready') return;
    client.ping().then(
      () => {
        isAsked = false;
      },
      () => {},
    );
  }, answerMs).unref();

  function openClient(): Redis {
    return new Redis(url, {
      connectTimeout: answerMs,
      disconnectTimeout: disconnectMs,
      // Nothing is given up by itself: who waits for an answer counts the time.
      maxRetriesPerRequest: null,
      retryStrategy: (times) => Math.min(25 * 2 ** times, longestRetryMs),
      // After a fail-over the old server still answers, and takes nothing.
      reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
    });
  }

  function tellAway(): void {
    if (isAway || isClosed) return;
    isAway = true;
    onNotice({ type: 'queue-away', address, reason });
  }

  return {
    client,
    answered(ask) {
      return new Promise((resolve, reject) => {
        const giveUp = (why: string) => {
          end();
          reject(new QueueAwayError(address, why));
        };
        const late = setTimeout(
          () => giveUp(client.status === 'ready' ? `no answer within ${answerMs} ms` : reason),
          answerMs,
        );
        // What is asked while the server is away would pile up here, and be carried out much later.
        const proceed = () => {
          whenReady.delete(proceed);
          ask().then(
            (answer) => {
              end();
              resolve(answer);
            },
            (error: unknown) => giveUp(error instanceof Error ? error.message : String(error)),
          );
        };
        const end = () => {
          clearTimeout(late);
          whenReady.delete(proceed);
        };
        if (client.status === 'ready') proceed();
        else whenReady.add(proceed);
      });
    },
    duplicate() {
      const duplicate = openClient();
      // Its troubles are those of the first connection, which tells of them.
      duplicate.on('error', () => {});
      return duplicate;
    },
    close() {
      isClosed = true;
      clearInterval(watch);
      endConnection(client);
    },
  };
}

/**
 * Ends a connection for good; what was asked on it and not answered is rejected. Where it waits for its next try,
 * disconnecting alone would keep such commands, and those who wait for them, for ever.
 */
export function endConnection(client: Redis): void {
  if (client.status === 'end') return;
  const isBetweenTries = client.status === 'reconnecting';
  client.disconnect();
  if (!isBetweenTries) return;
  client.connect().catch(() => {});
  client.disconnect();
}

/** The address of a server for people: without user, password and options. */
export function describeRedis(url: string): string {
  const { protocol, hostname, port, pathname } = new URL(url);
  const database = pathname.replace(/^\/0?$/, '');
  return `${protocol}//${hostname}:${port || '6379'}${database}`;
}

import { Redis } from 'ioredis';
import { QueueAwayError } from '../review/queue.js';

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
  /**
   * @param withinMs in place of the usual time
   * @throws QueueAwayError when there is no answer in time, or a refusal; what was asked may happen all the same
   */
  answered<Answer>(ask: () => Promise<Answer>, withinMs?: number): Promise<Answer>;
  /** Resolves when the server is there, or the connection closed for good. */
  untilReady(): Promise<void>;
  /** Another connection of the same kind, for commands that block. */
  duplicate(): Redis;
  close(): void;
}

/** Connects at once, in the background, and again whenever the connection breaks. */
export function openRedisConnection({ url, answerMs, onNotice }: RedisConnectionOptions): RedisConnection {
  const address = describeRedis(url);
  const client = openClient();
  const whenReady = new Set<() => void>();
  let reason = describeSilence(answerMs);
  let isAway = false;
  let isClosed = false;

  client.on('error', (error) => {
    reason = describeRefusal(error);
  });
  client.on('ready', () => {
    reason = brokenConnection;
    for (const proceed of whenReady) proceed();
    if (isAway) onNotice({ type: 'queue-back', address });
    isAway = false;
  });
  client.on('close', tellAway);

  const watches = [
    breakWhenSilent(client, {
      silentMs: answerMs,
      mayBeAsked: true,
      onSilent() {
        reason = describeSilence(answerMs);
        tellAway();
      },
    }),
  ];

  function openClient(): Redis {
    return new Redis(url, {
      connectTimeout: answerMs,
      disconnectTimeout: disconnectMs,
      // What a broken connection leaves open is given up: kept for the next one, some of it would never be answered.
      maxRetriesPerRequest: 0,
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

  function untilReady(late?: AbortSignal): Promise<void> {
    if (client.status === 'ready' || isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const proceed = () => {
        whenReady.delete(proceed);
        resolve();
      };
      whenReady.add(proceed);
      late?.addEventListener('abort', proceed, { once: true });
    });
  }

  /** What is asked while the server is away would pile up here, and be carried out much later. */
  async function askWhenReady<Answer>(ask: () => Promise<Answer>, late: AbortSignal): Promise<Answer> {
    await untilReady(late);
    late.throwIfAborted();
    return ask();
  }

  return {
    client,
    async answered(ask, withinMs = answerMs) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(new Error(describeSilence(withinMs))), withinMs);
      try {
        return await Promise.race([askWhenReady(ask, late.signal), rejectedWhen(late.signal)]);
      } catch (error) {
        const isBroken = client.status !== 'ready' || !(error instanceof Error);
        throw new QueueAwayError(address, isBroken ? reason : describeRefusal(error));
      } finally {
        clearTimeout(timer);
      }
    },
    untilReady: () => untilReady(),
    duplicate() {
      const duplicate = openClient();
      // Its troubles are those of the first connection, which tells of them.
      duplicate.on('error', () => {});
      watches.push(breakWhenSilent(duplicate, { silentMs: answerMs, mayBeAsked: false, onSilent() {} }));
      return duplicate;
    },
    close() {
      isClosed = true;
      for (const stop of watches) stop();
      endConnection(client);
      for (const proceed of whenReady) proceed();
    },
  };
}

function describeSilence(milliseconds: number): string {
  return `no answer within ${milliseconds} ms`;
}

function rejectedWhen(late: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    late.addEventListener('abort', () => reject(late.reason), { once: true }),
  );
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

export interface RedisWatchOptions {
  /** How long a peer may keep silent. */
  readonly silentMs: number;
  /** Whether it may be asked at any time: behind a command that blocks, a question would wait. */
  readonly mayBeAsked: boolean;
  readonly onSilent: () => void;
}

/**
 * A peer that falls silent breaks no connection, and the system waits for it for a quarter of an hour. So it is asked now
 * and then, and the connection is broken, and made anew, when it does not answer, or does not end its greeting.
 *
 * @returns stops the watch
 */
export function breakWhenSilent(
  client: Redis,
  { silentMs, mayBeAsked, onSilent }: RedisWatchOptions,
): () => void {
  let isOwing = false;
  const settle = () => {
    isOwing = false;
  };
  client.on('ready', settle);
  client.on('close', settle);
  const timer = setInterval(() => {
    if (isOwing) {
      isOwing = false;
      onSilent();
      client.disconnect(true);
    } else if (client.status === 'connect') {
      isOwing = true;
    } else if (client.status === 'ready' && mayBeAsked) {
      isOwing = true;
      // A broken connection settles it too.
      client.ping().then(settle, () => {});
    }
  }, silentMs).unref();
  return () => clearInterval(timer);
}

/**
 * What a server, or the way to it, said in refusal. A server that doesn't know a command quotes what came with it: of
 * AUTH that is the password.
 */
export function describeRefusal({ message }: Error): string {
  return message.replace(/,? with args beginning with.*$/is, '');
}

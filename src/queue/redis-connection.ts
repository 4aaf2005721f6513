import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { untilAborted } from '../base/abort.js';
import { needsPerson, type PeerFault } from '../base/peer-patience.js';
import { QueueAwayError } from '../booking/step-queue.js';

/** Shared by all processes. */
export const queueName = 'hotel-review-steps';
export const queuePrefix = 'hotel-review';

/** How long the server may take to close a connection. */
const disconnectMs = 500;
const longestRetryMs = 1_000;
/** A server that refuses a login counts such tries, and may lock the account. */
const longestRefusedRetryMs = 15_000;
/** The reason when a connection ends without an error. */
const brokenConnection = 'the connection broke';

/**
 * Emitted once when the server goes away, again once it is known that it refuses us, and once when it is back, whatever the number of
 * retries. Holds no password.
 */
export type QueueNotice =
  | { readonly type: 'queue-away'; readonly address: string; readonly reason: string }
  | { readonly type: 'queue-back'; readonly address: string };

/** Where the server is. */
export interface RedisAddress {
  /** `redis://` or `rediss://`, with user, password and database number where needed. */
  readonly url: string;
  /** The file of the authority's certificate; with it TLS is required. */
  readonly ca?: string | undefined;
  /** How the server's list of clients names the connection, without spaces. */
  readonly name?: string | undefined;
}

export type RedisConnection = ReturnType<typeof openRedisConnection>;

/**
 * Connects in the background, at once and whenever the connection breaks.
 *
 * @param answerMs time limit for an answer
 */
export function openRedisConnection({
  url,
  ca,
  name,
  answerMs,
  onNotice,
}: RedisAddress & {
  readonly answerMs: number;
  readonly onNotice: (notice: QueueNotice) => void;
}) {
  const address = describeRedis(url);
  const client = new Redis(url, {
    ...readRedisTls(ca),
    ...(name !== undefined && { connectionName: name }),
    connectTimeout: answerMs,
    disconnectTimeout: disconnectMs,
    // Commands open on a broken connection are rejected: kept for the next connection, some would never be answered.
    maxRetriesPerRequest: 0,
    retryStrategy: (times) =>
      Math.min(25 * 2 ** times, needsPerson(judgeRedis(reason)) ? longestRefusedRetryMs : longestRetryMs),
    // After a fail-over the old server still answers, but accepts no writes.
    reconnectOnError(error) {
      if (judgeRedis(error.message) !== 'read-only') return false;
      refusal = describeRefusal(error);
      return 2;
    },
  });
  const whenReady = new Set<() => void>();
  let reason = describeSilence(answerMs);
  /** Why it takes no writes, although it answers. */
  let refusal: string | undefined;
  let isAway = false;
  let toldFault: PeerFault = 'passing';
  let isClosed = false;

  client.on('error', (error) => {
    reason = describeRefusal(error);
  });
  client.on('ready', () => {
    reason = brokenConnection;
    for (const proceed of whenReady) proceed();
    // It may answer without taking writes.
    if (refusal === undefined) reportBack();
  });
  client.on('close', reportAway);

  const endWatch = breakWhenSilent(client, {
    silentMs: answerMs,
    ping: () => client.ping(),
    onSilent() {
      reason = describeSilence(answerMs);
      reportAway();
    },
  });

  function reportBack(): void {
    if (isAway) onNotice({ type: 'queue-back', address });
    isAway = false;
    toldFault = 'passing';
  }

  function reportAway(): void {
    const why = refusal ?? reason;
    const fault = judgeRedis(why);
    if (isClosed || (isAway && (fault === 'passing' || fault === toldFault))) return;
    isAway = true;
    toldFault = fault;
    onNotice({ type: 'queue-away', address, reason: why });
  }

  /** Resolves when the server is reachable, `stop` has aborted, or the connection was closed for good. */
  function untilReady(stop?: AbortSignal): Promise<void> {
    if (client.status === 'ready' || isClosed || stop?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const proceed = () => {
        whenReady.delete(proceed);
        resolve();
      };
      whenReady.add(proceed);
      stop?.addEventListener('abort', proceed, { once: true });
    });
  }

  /**
   * @param withinMs overrides the usual time limit
   * @throws QueueAwayError when there is no answer in time, or a refusal; the command may still take effect
   */
  async function answered<Answer>(ask: () => Promise<Answer>, withinMs = answerMs): Promise<Answer> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(describeSilence(withinMs))), withinMs);
    try {
      // Otherwise commands would pile up while the server is away, and be executed much later.
      await untilReady(late.signal);
      late.signal.throwIfAborted();
      const isLate = untilAborted(late.signal).then(() => Promise.reject(late.signal.reason));
      return await Promise.race([ask(), isLate]);
    } catch (error) {
      const isBroken = client.status !== 'ready' || !(error instanceof Error);
      const why = refusal ?? (isBroken ? reason : describeRefusal(error));
      throw new QueueAwayError(address, why, judgeRedis(why));
    } finally {
      clearTimeout(timer);
    }
  }

  /** The same for what writes: a server that takes it is back for good. */
  async function written<Answer>(ask: () => Promise<Answer>, withinMs = answerMs): Promise<Answer> {
    const answer = await answered(ask, withinMs);
    refusal = undefined;
    reportBack();
    return answer;
  }

  return {
    client,
    answered,
    written,
    untilReady,
    close() {
      isClosed = true;
      endWatch();
      endConnection(client);
      for (const proceed of whenReady) proceed();
    },
  };
}

/** @param ca the file of the authority's certificate */
function readRedisTls(ca: string | undefined) {
  return ca === undefined ? {} : { tls: { ca: readFileSync(ca) } };
}

function describeSilence(milliseconds: number): string {
  return `no answer within ${milliseconds} ms`;
}

/**
 * Ends a connection for good and rejects its unanswered commands. While ioredis waits to reconnect, `disconnect` alone
 * would leave such commands pending for ever.
 */
export function endConnection(client: Connection): void {
  if (client.status === 'end') return;
  const isBetweenTries = client.status === 'reconnecting';
  client.disconnect();
  if (!isBetweenTries) return;
  client.connect().catch(() => {});
  client.disconnect();
}

/** A server's address for display: without user, password and options. */
export function describeRedis(url: string): string {
  const { protocol, hostname, port, pathname } = new URL(url);
  const database = pathname.replace(/^\/0?$/, '');
  return `${protocol}//${hostname}:${port || '6379'}${database}`;
}

/** One of ours, or one that BullMQ has duplicated from it. */
interface Connection {
  readonly status: string;
  on(event: 'ready' | 'close', listener: () => void): unknown;
  connect(): Promise<void>;
  disconnect(reconnects?: boolean): void;
}

interface RedisWatch {
  /** How long the server may stay silent. */
  readonly silentMs: number;
  /** Absent where it would have to wait for a command that blocks. */
  readonly ping?: () => Promise<unknown>;
  readonly onSilent?: () => void;
}

/**
 * A server that falls silent does not break the connection, and the operating system waits a quarter of an hour. So this
 * pings it periodically, and reconnects when there is no answer or the handshake does not finish.
 *
 * @returns stops the watch
 */
export function breakWhenSilent(client: Connection, { silentMs, ping, onSilent }: RedisWatch): () => void {
  let isAnswerDue = false;
  const settle = () => {
    isAnswerDue = false;
  };
  client.on('ready', settle);
  client.on('close', settle);
  const timer = setInterval(() => {
    if (isAnswerDue) {
      isAnswerDue = false;
      onSilent?.();
      client.disconnect(true);
    } else if (client.status === 'connect') {
      isAnswerDue = true;
    } else if (client.status === 'ready' && ping) {
      isAnswerDue = true;
      // A broken connection settles it, too.
      ping().then(settle, () => {});
    }
  }, silentMs).unref();
  return () => clearInterval(timer);
}

/**
 * The message of an error from the server or the network. A server that does not know a command quotes its arguments: for
 * AUTH that is the password.
 */
export function describeRefusal({ message }: Error): string {
  return message.replace(/,? with args beginning with.*$/is, '');
}

const faults: readonly (readonly [PeerFault, RegExp])[] = [
  [
    'refused',
    /WRONGPASS|NOAUTH|NOPERM|invalid password|without any password configured|unknown command .?auth|executing the script can.t/i,
  ],
  // Parts of a cluster, and sentinels; a certificate is another server's.
  ['unsuited', /\b(?:MOVED|ASK|CROSSSLOT|CLUSTERDOWN) |unknown command .?(?:eval|EVAL)|certificate/],
  ['read-only', /READONLY|MASTERDOWN/],
];

/** What a reason means for the queue, as the server or the network words it. */
export function judgeRedis(reason: string): PeerFault {
  return faults.find(([, words]) => words.test(reason))?.[0] ?? 'passing';
}

/** Commands that the queue needs, on a key that does not exist: they change nothing, and are refused like all of their kind. */
const rightsProbe = `
redis.call("HDEL", KEYS[1], "field")
redis.call("LREM", KEYS[1], 0, "member")
redis.call("SREM", KEYS[1], "member")
redis.call("ZREM", KEYS[1], "member")
redis.call("XTRIM", KEYS[1], "MAXLEN", 0)
redis.call("DEL", KEYS[1])
return 1`;

/** Whether the server lets us run scripts and write to the keys of the queue; nothing is written. */
export async function probeRights(client: Redis): Promise<void> {
  await client.eval(rightsProbe, 1, `${queuePrefix}:${queueName}:rights-probe`);
}

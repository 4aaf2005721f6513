import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type BackendFactory,
  type Job,
  QueueKeys,
  RedisQueueBackend,
  RedisConnection as RedisRole,
  WaitingError,
  Worker,
} from 'bullmq';
import type { Redis } from 'ioredis';
import type { PerformStep, StepReference } from '../review/queue.js';
import { queueName, queuePrefix } from './bullmq-jobs.js';
import { endConnection, type RedisConnection } from './redis-connection.js';

/** Without a rate limit BullMQ's workers would not heed a hold-off either. */
const noLimit = { max: 1_000_000_000, duration: 1_000 };
/** A job may be handed out anew as often as its workers die: the ledger counts the tries. */
const anyNumberOfTimes = 1_000_000;
/** How long a worker sleeps at most before it looks again, while it is held off and after a lost connection. */
const lookAgainMs = 1_000;
/** In BullMQ's words: it blocks for fractions of a second, but not for as little as a millisecond. */
const abilitiesOfRedis6 = { canDoubleTimeout: true, canBlockFor1Ms: false };

export interface StepWorkerOptions {
  readonly connection: RedisConnection;
  readonly concurrency: number;
  /** Steps a second at most, over all processes. */
  readonly perSecond?: number | undefined;
  readonly lockMs: number;
  readonly perform: PerformStep;
  readonly onError: (error: unknown, reference: StepReference) => void;
}

export interface StepWorker {
  /** Takes nothing more; resolves when no step is in hand. Those that are still there after `graceMs` are aborted. */
  stop(graceMs: number): Promise<void>;
  /** Resolves when Redis knows what has ended. Only after `stop`; without an answer of Redis never. */
  stopped(): Promise<void>;
}

/** After a lost connection BullMQ's would sleep for five seconds, and closing doesn't wake it. */
class WakefulWorker extends Worker<StepReference> {
  protected override checkConnectionError<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    return super.checkConnectionError(ask, lookAgainMs);
  }
}

/** BullMQ's worker, as far as it may be trusted with the steps: it hands out, renews locks, and learns of no error. */
export function startStepWorker(options: StepWorkerOptions): StepWorker {
  const { connection, concurrency, perSecond, lockMs, perform, onError } = options;
  const inHand = new Set<Promise<void>>();
  const abandoning = new AbortController();
  // Every step in hand listens to it: many listeners are no leak here.
  setMaxListeners(0, abandoning.signal);
  const stopping = new AbortController();
  let stopped = Promise.resolve();
  const blocking = connection.duplicate();

  const worker = new WakefulWorker(
    queueName,
    async (job, token) => {
      if (stopping.signal.aborted) await putBack(job, token);
      await new Promise<void>((leave) => {
        const performing = performQuietly(job.data, leave).finally(() => {
          inHand.delete(performing);
          leave();
        });
        inHand.add(performing);
      });
      // Told to nobody, the end would be forgotten, and the step handed out again.
      await connection.untilReady();
    },
    {
      connection: connection.client,
      prefix: queuePrefix,
      concurrency,
      limiter: perSecond === undefined ? noLimit : spread(perSecond),
      lockDuration: lockMs,
      stalledInterval: lockMs / 2,
      maxStalledCount: anyNumberOfTimes,
      maximumRateLimitDelay: lookAgainMs,
      runRetryDelay: lookAgainMs,
    },
    withConnections(connection, blocking, stopping.signal),
  );
  // The connection tells when it breaks. A lock that was lost means that somebody else has the step too, which the ledger tells apart.
  worker.on('error', () => {});

  /** What goes wrong stays in this process: BullMQ would keep the words of an error in Redis, and they may name a guest. */
  async function performQuietly(reference: StepReference, leave: () => void): Promise<void> {
    try {
      await perform(reference, abandoning.signal, leave);
    } catch (error) {
      onError(error, reference);
    }
  }

  return {
    async stop(graceMs) {
      stopping.abort();
      stopped = worker.close();
      endConnection(blocking);
      const grace = setTimeout(() => abandoning.abort(new Error('the queue was closed')), graceMs);
      while (inHand.size > 0) await Promise.allSettled(inHand);
      clearTimeout(grace);
    },
    stopped: () => stopped,
  };
}

/** A job that came while the worker was stopping: others shall have it at once. */
async function putBack(job: Job<StepReference>, token: string | undefined): Promise<never> {
  // Where that fails its lock runs out, and it is handed out again.
  await job.moveToWait(token).catch(() => {});
  throw new WaitingError();
}

/** As BullMQ does it, but with connections that are ours to end: its own way waits without limit. */
function withConnections(
  { client }: RedisConnection,
  blocking: Redis,
  stopping: AbortSignal,
): BackendFactory<RedisQueueBackend> {
  return (name, options) => {
    const keys = new QueueKeys(queuePrefix);
    const backend = new RedisQueueBackend(
      takeRole(client, { blocking: false }),
      name,
      keys.getKeys(name),
      (type) => keys.toKey(name, type),
      options,
      takeRole(blocking, { blocking: true }),
    );
    return afterFaultsPatient(backend, stopping);
  };
}

/** A server that refuses, for its memory or its disk is full, would be asked again without a pause. */
function afterFaultsPatient(backend: RedisQueueBackend, stopping: AbortSignal): RedisQueueBackend {
  const takeJob = backend.moveToActive.bind(backend);
  backend.moveToActive = async (...job) => {
    try {
      return await takeJob(...job);
    } catch (error) {
      await pause(lookAgainMs, undefined, { signal: stopping }).catch(() => {});
      throw error;
    }
  };
  return backend;
}

/** BullMQ asks a server once for its version, and takes a connection that breaks meanwhile for lost: it is told instead. */
function takeRole(client: Redis, { blocking }: { readonly blocking: boolean }): RedisRole {
  const role = new RedisRole(client, { shared: true, blocking, skipVersionCheck: true });
  const setAbilities = () => {
    role.capabilities = abilitiesOfRedis6;
  };
  role.client.then(setAbilities, () => {});
  return role;
}

/** In ten portions a second rather than in one burst at its start: a portion is what all workers may take together. */
function spread(perSecond: number): { max: number; duration: number } {
  const portions = Math.min(perSecond, 10);
  const max = Math.max(1, Math.round(perSecond / portions));
  return { max, duration: Math.ceil((1000 * max) / perSecond) };
}

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
import { queueName, queuePrefix, readReference } from './bullmq-jobs.js';
import { endConnection, type RedisConnection } from './redis-connection.js';

/** Without any rate limit BullMQ's workers would ignore a hold-off, too. */
const noLimit = { max: 1_000_000_000, duration: 1_000 };
/** A job may be handed out again however often its workers die: the ledger counts the tries. */
const anyNumberOfTimes = 1_000_000;
/** Maximum sleep of a worker before it checks again, during a hold-off and after a lost connection. */
const checkAgainMs = 1_000;
/** BullMQ's names for: can block for fractions of a second, but not for as little as a millisecond. */
const abilitiesOfRedis6 = { canDoubleTimeout: true, canBlockFor1Ms: false };

export interface StepWorkerOptions {
  readonly connection: RedisConnection;
  readonly concurrency: number;
  /** Maximum number of steps per second, over all processes. */
  readonly perSecond?: number | undefined;
  readonly lockMs: number;
  readonly perform: PerformStep;
  readonly onError: (error: unknown, reference: StepReference) => void;
}

export interface StepWorker {
  /** Takes no more steps; resolves when none is in progress. Those still running after `graceMs` are aborted. */
  stop(graceMs: number): Promise<void>;
  /** Resolves when Redis knows which steps have ended. Call it after `stop`; never resolves if Redis does not answer. */
  stopped(): Promise<void>;
}

/** BullMQ's own worker sleeps for five seconds after a lost connection, and closing does not wake it. */
class WakefulWorker extends Worker<StepReference> {
  protected override checkConnectionError<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    return super.checkConnectionError(ask, checkAgainMs);
  }
}

/** BullMQ's worker hands out steps and renews locks; it never sees an error. */
export function startStepWorker(options: StepWorkerOptions): StepWorker {
  const { connection, concurrency, perSecond, lockMs, perform, onError } = options;
  const inHand = new Set<Promise<void>>();
  const abandoning = new AbortController();
  // Every step in progress adds a listener: having many of them is not a leak.
  setMaxListeners(0, abandoning.signal);
  const stopping = new AbortController();
  let stopped = Promise.resolve();
  const blocking = connection.duplicate();

  const worker = new WakefulWorker(
    queueName,
    async (job, token) => {
      if (stopping.signal.aborted) await putBack(job, token);
      const reference = readReference(job.data);
      if (!reference) return;
      await new Promise<void>((releaseSlot) => {
        const performing = performQuietly(reference, releaseSlot).finally(() => {
          inHand.delete(performing);
          releaseSlot();
        });
        inHand.add(performing);
      });
      // While Redis is away BullMQ could not record the end, and the step would be handed out again.
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
      maximumRateLimitDelay: checkAgainMs,
      runRetryDelay: checkAgainMs,
    },
    withConnections(connection, blocking, stopping.signal),
  );
  // The connection reports when it breaks. A lost lock means that another worker has the step, too; the ledger handles that.
  worker.on('error', () => {});

  /** Errors stay in this process: BullMQ would store their messages in Redis, and they may name a guest. */
  async function performQuietly(reference: StepReference, releaseSlot: () => void): Promise<void> {
    try {
      await perform(reference, abandoning.signal, releaseSlot);
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

/** For a job that arrived while the worker was stopping: another worker can have it at once. */
async function putBack(job: Job<StepReference>, token: string | undefined): Promise<never> {
  // If that fails, its lock expires and it is handed out again.
  await job.moveToWait(token).catch(() => {});
  throw new WaitingError();
}

/** Like BullMQ's default, but with connections that we can end: its own close may wait for ever. */
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
    return pauseAfterFaults(backend, stopping);
  };
}

/** BullMQ would ask a server that refuses, for example because its memory is full, again without a pause. */
function pauseAfterFaults(backend: RedisQueueBackend, stopping: AbortSignal): RedisQueueBackend {
  const takeJob = backend.moveToActive.bind(backend);
  backend.moveToActive = async (...job) => {
    try {
      return await takeJob(...job);
    } catch (error) {
      await pause(checkAgainMs, undefined, { signal: stopping }).catch(() => {});
      throw error;
    }
  };
  return backend;
}

/** BullMQ checks the server's version once, and gives up a connection that breaks during the check: we set the result. */
function takeRole(client: Redis, { blocking }: { readonly blocking: boolean }): RedisRole {
  const role = new RedisRole(client, { shared: true, blocking, skipVersionCheck: true });
  const setAbilities = () => {
    role.capabilities = abilitiesOfRedis6;
  };
  role.client.then(setAbilities, () => {});
  return role;
}

/** In ten portions per second instead of one burst; a portion is what all workers together may take. */
function spread(perSecond: number): { max: number; duration: number } {
  const portions = Math.min(perSecond, 10);
  const max = Math.max(1, Math.round(perSecond / portions));
  return { max, duration: Math.ceil((1000 * max) / perSecond) };
}

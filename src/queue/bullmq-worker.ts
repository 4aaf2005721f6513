import { setMaxListeners } from 'node:events';
import { type Job, WaitingError, Worker } from 'bullmq';
import { pause } from '../base/abort.js';
import type { PerformStep, StepReference } from '../booking/step-queue.js';
import { queueName, queuePrefix, readReference } from './bullmq-jobs.js';
import { spread } from './in-process.js';
import { breakWhenSilent, endConnection, type RedisConnection } from './redis-connection.js';

/** Without any rate limit BullMQ's workers would ignore a hold-off, too. */
const noLimit = { max: 1_000_000_000, duration: 1_000 };
/** The rate is that of all workers together: portions of a tenth of a second, instead of one burst. */
const portionsPerSecond = 10;
/** A job may be handed out again however often its workers die: the ledger counts the tries. */
const anyNumberOfTimes = 1_000_000;
/** Maximum sleep of a worker before it checks again, during a hold-off and after Redis refused something. */
const checkAgainMs = 1_000;

export type StepWorker = ReturnType<typeof startStepWorker>;

/**
 * BullMQ's worker hands out steps and renews locks; it never sees an error.
 *
 * @param pace `perSecond`: maximum number of steps per second, over all processes
 */
export function startStepWorker(
  connection: RedisConnection,
  pace: { readonly concurrency: number; readonly perSecond?: number | undefined },
  { lockMs, answerMs }: { readonly lockMs: number; readonly answerMs: number },
  perform: PerformStep,
  onError: (error: unknown, reference: StepReference) => void,
) {
  const { concurrency, perSecond } = pace;
  const inHand = new Set<Promise<void>>();
  const abandoning = new AbortController();
  // Every step in progress adds a listener: having many of them is not a leak.
  setMaxListeners(0, abandoning.signal);
  const stopping = new AbortController();
  const opening = open();
  let stopped = Promise.resolve();

  /** BullMQ duplicates the connection, and would wait for ever if the duplicate's handshake got lost. */
  async function open(): Promise<Worker | undefined> {
    for (;;) {
      await connection.untilReady(stopping.signal);
      if (stopping.signal.aborted) return undefined;
      const worker = createWorker();
      const ready = worker.waitUntilReady().then(
        () => true,
        () => false,
      );
      const late = pause(answerMs, stopping.signal, { holdsProcess: false }).then(() => false);
      if (await Promise.race([ready, late])) {
        const blocking = await worker.getBackend().blockingClient;
        if (blocking) worker.once('closed', breakWhenSilent(blocking, { silentMs: answerMs }));
        await worker.resume();
        return worker;
      }
      await worker.close(true);
    }
  }

  function createWorker(): Worker {
    const worker = new Worker<StepReference>(queueName, handOut, {
      connection: connection.client,
      prefix: queuePrefix,
      // BullMQ checks once, and gives up a connection that breaks during the check. Without the version it blocks for whole
      // seconds only: an idle worker may take a step up to a second after it is due.
      skipVersionCheck: true,
      autorun: false,
      concurrency,
      limiter: perSecond === undefined ? noLimit : spread(perSecond, portionsPerSecond),
      lockDuration: lockMs,
      stalledInterval: lockMs / 2,
      maxStalledCount: anyNumberOfTimes,
      maximumRateLimitDelay: checkAgainMs,
      runRetryDelay: checkAgainMs,
    });
    // The connection reports when it breaks. A lost lock means that another worker has the step, too; the ledger handles that.
    worker.on('error', () => void rest(worker));
    return worker;
  }

  /** BullMQ would ask a server that refuses, for example because its memory is full, again without a pause. */
  async function rest(worker: Worker): Promise<void> {
    if (worker.isPaused() || stopping.signal.aborted) return;
    await worker.pause(true);
    await pause(checkAgainMs, stopping.signal);
    await worker.resume();
  }

  async function handOut(job: Job<StepReference>, token: string | undefined): Promise<void> {
    if (stopping.signal.aborted) await putBack(job, token);
    const reference = readReference(job.data);
    if (!reference) return;
    await new Promise<void>((releasePermit) => {
      const performing = performQuietly(reference, releasePermit).finally(() => {
        inHand.delete(performing);
        releasePermit();
      });
      inHand.add(performing);
    });
    // While Redis is away BullMQ could not record the end, and the step would be handed out again.
    await connection.untilReady();
  }

  /** Errors stay in this process: BullMQ would store their messages in Redis, and they may name a guest. */
  async function performQuietly(reference: StepReference, releasePermit: () => void): Promise<void> {
    try {
      await perform(reference, abandoning.signal, releasePermit);
    } catch (error) {
      onError(error, reference);
    }
  }

  async function close(): Promise<void> {
    const worker = await opening;
    if (!worker) return;
    const closed = worker.close();
    // BullMQ's own close would wait for ever for a connection that is about to be opened again.
    const blocking = await worker.getBackend().blockingClient;
    if (blocking) endConnection(blocking);
    await closed;
  }

  return {
    /** Takes no more steps; resolves when none is in progress. Those still running after `graceMs` are aborted. */
    async stop(graceMs: number): Promise<void> {
      stopping.abort();
      stopped = close();
      const grace = setTimeout(() => abandoning.abort(new Error('the queue was closed')), graceMs);
      while (inHand.size > 0) await Promise.allSettled(inHand);
      clearTimeout(grace);
    },
    /** Resolves when Redis knows which steps have ended. Call it after `stop`; never resolves if Redis does not answer. */
    stopped: () => stopped,
  };
}

/** For a job that arrived while the worker was stopping: another worker can have it at once. */
async function putBack(job: Job<StepReference>, token: string | undefined): Promise<never> {
  // If that fails, its lock expires and it is handed out again.
  await job.moveToWait(token).catch(() => {});
  throw new WaitingError();
}

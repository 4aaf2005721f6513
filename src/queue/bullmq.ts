import { Queue } from 'bullmq';
import { orAborted, pause } from '../base/abort.js';
import { QueueAwayError, type QueuedStep, type StepQueue } from '../booking/step-queue.js';
import {
  bringForward,
  dropWaiting,
  holdOffAllWorkers,
  probeRights,
  queueName,
  queuePrefix,
  toJob,
} from './bullmq-jobs.js';
import { type StepWorker, startStepWorker } from './bullmq-worker.js';
import { openRedisConnection, type QueueNotice, type RedisAddress } from './redis-connection.js';

/** Maximum number of references waiting in Redis, about 1 kB each; the ledger holds the rest. */
const backlogLimit = 20_000;
const capacityPollMs = 250;
/** How long Redis may take for each part of closing: a process that was asked to stop must end soon, even if Redis hangs. */
const closingMs = 500;
/** Whoever asks for the process's health gets the reason within two seconds. */
const checkMs = 1_500;
/** References added per call. */
const pageSize = 500;

export interface BullmqQueueOptions extends RedisAddress {
  /** Maximum number of steps in progress in this process. */
  readonly concurrency: number;
  /** Maximum number of steps handed out per second, over all processes. */
  readonly perSecond?: number | undefined;
  /** A step is handed out again when its process was silent for this long. */
  readonly lockMs?: number;
  /** How long Redis may take for an answer. */
  readonly answerMs?: number;
  readonly clock: () => number;
  readonly onNotice: (notice: QueueNotice) => void;
}

/**
 * The queue shared by many processes: BullMQ on Redis. Connects on first use. While Redis is away, `holdOff` and `drop`
 * have no effect, just as when Redis loses its data.
 */
export function createBullmqQueue(options: BullmqQueueOptions): StepQueue {
  const { url, ca, lockMs = 30_000, answerMs = 5_000, clock, onNotice } = options;
  const stopping = new AbortController();
  let opened: ReturnType<typeof open> | undefined;
  let worker: StepWorker | undefined;
  let isClosed = false;
  let closing: Promise<void> | undefined;

  function open() {
    const connection = openRedisConnection({ url, ca, answerMs, onNotice });
    const queue = new Queue(queueName, {
      connection: connection.client,
      prefix: queuePrefix,
      // BullMQ checks once, and gives up a connection that breaks during the check.
      skipVersionCheck: true,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      // Nobody reads the events.
      streams: { events: { maxLen: 100 } },
    });
    // The connection reports when it breaks.
    queue.on('error', () => {});
    return { connection, queue };
  }

  function use() {
    opened ??= open();
    return opened;
  }

  /** While closing, requests of the steps in progress must not delay the exit. */
  function answerLimitMs(): number {
    return stopping.signal.aborted ? closingMs : answerMs;
  }

  async function addPage(steps: readonly QueuedStep[]): Promise<void> {
    if (isClosed) return;
    const { connection, queue } = use();
    const now = clock();
    const jobs = steps.map((step) => toJob(step, now));
    await connection.written(async () => {
      await queue.addBulk(jobs);
      await bringForward(connection.client, queue, jobs);
    }, answerLimitMs());
  }

  async function hasCapacity(): Promise<boolean> {
    const { connection, queue } = use();
    try {
      const count = () => queue.getJobCountByTypes('waiting', 'prioritized');
      return (await connection.answered(count)) < backlogLimit;
    } catch (error) {
      if (error instanceof QueueAwayError) return false;
      throw error;
    }
  }

  return {
    async add(steps) {
      const waiting = [...steps];
      for (let from = 0; from < waiting.length; from += pageSize) {
        await addPage(waiting.slice(from, from + pageSize));
      }
    },
    async waitForCapacity() {
      const { signal } = stopping;
      while (!signal.aborted && !(await orAborted(hasCapacity(), signal)))
        await pause(capacityPollMs, signal, { holdsProcess: false });
    },
    async countWaiting() {
      const { connection, queue } = use();
      return connection.answered(() => queue.getJobCountByTypes('waiting', 'prioritized', 'delayed'));
    },
    async check() {
      const { connection } = use();
      await connection.written(() => probeRights(connection.client), Math.min(answerMs, checkMs));
    },
    work(perform, { onError }) {
      if (stopping.signal.aborted) return;
      worker = startStepWorker(use().connection, options, { lockMs, answerMs }, perform, onError);
    },
    async holdOff(until) {
      const forMs = Math.ceil(until - clock());
      if (forMs <= 0 || isClosed) return false;
      const { connection, queue } = use();
      const asked = connection.answered(
        () => holdOffAllWorkers(connection.client, queue, forMs),
        answerLimitMs(),
      );
      return (await ignoreAway(asked)) ?? false;
    },
    async drop(runId) {
      if (isClosed) return;
      const { connection, queue } = use();
      const asked = connection.answered(() => dropWaiting(queue, runId), answerLimitMs());
      await ignoreAway(asked);
    },
    close({ graceMs = 0 } = {}) {
      closing ??= closeQueue(graceMs);
      return closing;
    },
  };

  async function closeQueue(graceMs: number): Promise<void> {
    stopping.abort();
    await worker?.stop(graceMs);
    isClosed = true;
    if (opened === undefined) return;
    // Let Redis learn which steps have ended, if it answers. Otherwise they are handed out again, and the ledger refuses them.
    await within(closingMs, worker?.stopped());
    opened.connection.close();
    await within(closingMs, worker?.stopped());
    await within(closingMs, opened.queue.close());
  }
}

async function within(milliseconds: number, ending: Promise<void> | undefined): Promise<void> {
  const over = new AbortController();
  await Promise.race([ending, pause(milliseconds, over.signal)]);
  over.abort();
}

async function ignoreAway<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof QueueAwayError)) throw error;
    return undefined;
  }
}

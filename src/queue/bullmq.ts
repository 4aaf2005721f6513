import { setTimeout as pause } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { untilAborted } from '../async/abort.js';
import { QueueAwayError, type QueuedStep, type StepQueue } from '../review/queue.js';
import { dropWaiting, holdOffAllWorkers, queueName, queuePrefix, toJob } from './bullmq-jobs.js';
import { type StepWorker, startStepWorker } from './bullmq-worker.js';
import { openRedisConnection, type QueueNotice } from './redis-connection.js';

/** References that wait in Redis at most, each of about 1 kB: the ledger holds the rest. */
const backlogLimit = 20_000;
const roomPollMs = 250;
/** How long Redis may take for each part of a farewell: a process that was asked to stop ends soon, whoever hangs. */
const farewellMs = 500;
/** References added in one go. */
const pageSize = 500;

export interface BullmqQueueOptions {
  /** `redis://` or `rediss://`, with user, password and database number where needed. */
  readonly url: string;
  /** Steps in hand at the same time, in this process. */
  readonly concurrency: number;
  /** Steps handed out a second at most, to all processes together. */
  readonly perSecond?: number | undefined;
  /** A step whose process has not been heard of for so long is handed out again. */
  readonly lockMs?: number;
  /** How long Redis may take for an answer. */
  readonly answerMs?: number;
  readonly clock: () => number;
  readonly onNotice: (notice: QueueNotice) => void;
}

/**
 * The queue that many processes share: BullMQ on Redis. It connects when it is first used. While Redis is away, holding off
 * and dropping come to nothing, as they do when Redis forgets.
 */
export function createBullmqQueue(options: BullmqQueueOptions): StepQueue {
  const { url, concurrency, perSecond, lockMs = 30_000, answerMs = 5_000, clock, onNotice } = options;
  const stopping = new AbortController();
  let opened: ReturnType<typeof open> | undefined;
  let worker: StepWorker | undefined;
  let isClosed = false;
  let closing: Promise<void> | undefined;

  function open() {
    const connection = openRedisConnection({ url, answerMs, onNotice });
    const queue = new Queue(queueName, {
      connection: connection.client,
      prefix: queuePrefix,
      // It asks once, and takes a connection that breaks meanwhile for lost.
      skipVersionCheck: true,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      // Nobody reads them.
      streams: { events: { maxLen: 100 } },
    });
    // The connection tells when it breaks.
    queue.on('error', () => {});
    return { connection, queue };
  }

  function use() {
    opened ??= open();
    return opened;
  }

  /** What the steps in hand still ask for at the end is no reason to stay. */
  function patienceMs(): number {
    return stopping.signal.aborted ? farewellMs : answerMs;
  }

  async function addPage(steps: readonly QueuedStep[]): Promise<void> {
    if (isClosed) return;
    const { connection, queue } = use();
    const now = clock();
    await connection.answered(() => queue.addBulk(steps.map((step) => toJob(step, now))), patienceMs());
  }

  /** Of work that is told to stop, nothing is waited for. One listener for each: one for all would remember every wait. */
  async function orStopped<Result>(work: Promise<Result>): Promise<Result | 'aborted'> {
    const over = new AbortController();
    try {
      return await Promise.race([work, untilAborted(stopping.signal, over.signal)]);
    } finally {
      over.abort();
    }
  }

  async function hasRoom(): Promise<boolean> {
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
    async room() {
      const { signal } = stopping;
      while (!signal.aborted && !(await orStopped(hasRoom()))) {
        await orStopped(pause(roomPollMs, undefined, { ref: false }));
      }
    },
    async countWaiting() {
      const { connection, queue } = use();
      return connection.answered(() => queue.getJobCountByTypes('waiting', 'prioritized', 'delayed'));
    },
    work(perform, { onError }) {
      if (stopping.signal.aborted) return;
      worker = startStepWorker({
        connection: use().connection,
        concurrency,
        perSecond,
        lockMs,
        perform,
        onError,
      });
    },
    async holdOff(until) {
      const forMs = Math.ceil(until - clock());
      if (forMs <= 0 || isClosed) return;
      const { connection, queue } = use();
      const asked = connection.answered(
        () => holdOffAllWorkers(connection.client, queue, forMs),
        patienceMs(),
      );
      await forgettable(asked);
    },
    async drop(runId) {
      if (isClosed) return;
      const { connection, queue } = use();
      const asked = connection.answered(() => dropWaiting(connection.client, queue, runId), patienceMs());
      await forgettable(asked);
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
    // Redis shall know what has ended, if it answers. Otherwise the steps are handed out again, and refused by the ledger.
    await within(farewellMs, worker?.stopped());
    opened.connection.close();
    await within(farewellMs, worker?.stopped());
    await within(farewellMs, opened.queue.close());
  }
}

async function within(milliseconds: number, ending: Promise<void> | undefined): Promise<void> {
  const over = new AbortController();
  await Promise.race([ending, pause(milliseconds, undefined, { signal: over.signal }).catch(() => {})]);
  over.abort();
}

async function forgettable(asked: Promise<void>): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!(error instanceof QueueAwayError)) throw error;
  }
}

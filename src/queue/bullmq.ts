import { type Job, Queue, WaitingError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { orAborted, pause } from '../base/abort.js';
import {
  type PerformStep,
  QueueAwayError,
  type QueuedStep,
  type StepQueue,
  type StepReference,
} from '../booking/step-queue.js';
import {
  breakWhenSilent,
  endConnection,
  openRedisConnection,
  probeRights,
  type QueueNotice,
  queueName,
  queuePrefix,
  type RedisAddress,
  type RedisConnection,
} from './redis-connection.js';
import { createStepsInHand, spread } from './steps-in-hand.js';

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
  const { url, ca, name, lockMs = 30_000, answerMs = 5_000, clock, onNotice } = options;
  const stopping = new AbortController();
  let opened: ReturnType<typeof open> | undefined;
  let worker: ReturnType<typeof startStepWorker> | undefined;
  let isClosed = false;
  let closing: Promise<void> | undefined;

  function open() {
    const connection = openRedisConnection({ url, ca, name, answerMs, onNotice });
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
    const count = () => queue.getJobCountByTypes('waiting', 'prioritized');
    return ((await ignoreAway(connection.answered(count))) ?? backlogLimit) < backlogLimit;
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

/** Without any rate limit BullMQ's workers would ignore a hold-off, too. */
const noLimit = { max: 1_000_000_000, duration: 1_000 };
/** The rate is that of all workers together: portions of a tenth of a second, instead of one burst. */
const portionsPerSecond = 10;
/** A job may be handed out again however often its workers die: the ledger counts the tries. */
const anyNumberOfTimes = 1_000_000;
/** Maximum sleep of a worker before it checks again, during a hold-off and after Redis refused something. */
const checkAgainMs = 1_000;

/**
 * BullMQ's worker hands out steps and renews locks; it never sees an error.
 *
 * @param pace `perSecond`: maximum number of steps per second, over all processes
 */
function startStepWorker(
  connection: RedisConnection,
  pace: { readonly concurrency: number; readonly perSecond?: number | undefined },
  { lockMs, answerMs }: { readonly lockMs: number; readonly answerMs: number },
  perform: PerformStep,
  onError: (error: unknown, reference: StepReference) => void,
) {
  const { concurrency, perSecond } = pace;
  // BullMQ would store the messages of errors in Redis, and they may name a guest.
  const inHand = createStepsInHand(perform, onError);
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
    await inHand.perform(reference);
    // While Redis is away BullMQ could not record the end, and the step would be handed out again.
    await connection.untilReady();
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
    /** Takes no more steps; see `end`. */
    async stop(graceMs: number): Promise<void> {
      stopping.abort();
      stopped = close();
      await inHand.end(graceMs);
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

/**
 * BullMQ takes jobs without a priority first. Every step has one, because jobs of equal priority keep their order; what
 * BullMQ puts back after its worker died goes first.
 */
const priorities = { urgent: 1, normal: 2 };

function toJob({ runId, step, attempt, notBefore, isUrgent }: QueuedStep, now: number) {
  return {
    // All jobs have the same name in BullMQ; the reference says which step it is.
    name: 'step',
    data: { runId, step, attempt },
    opts: {
      // At most one job per reference. BullMQ allows no colon in an id.
      jobId: `${jobIdPrefix(runId)}${encodeURIComponent(step)}/${attempt}`,
      priority: isUrgent ? priorities.urgent : priorities.normal,
      timestamp: now,
      delay: Math.max(0, Math.ceil((notBefore ?? now) - now)),
    },
  };
}

/**
 * What a job refers to; undefined for one that none of our queues wrote: anybody who can write to Redis may invent
 * jobs.
 */
function readReference(data: unknown): StepReference | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { runId, step, attempt } = data as Readonly<Record<string, unknown>>;
  if (typeof runId !== 'string' || typeof step !== 'string') return undefined;
  return Number.isSafeInteger(attempt) ? { runId, step, attempt: Number(attempt) } : undefined;
}

/** Starts the ids of a run's jobs and of no others. */
function jobIdPrefix(runId: string): string {
  return `${encodeURIComponent(runId)}/`;
}

/**
 * Brings jobs forward that already wait and are due later than asked now. BullMQ ignores a job that it holds, and keeps
 * the due time by the clock of the process that added it, which may have been ahead.
 */
async function bringForward(
  client: Redis,
  queue: Queue,
  jobs: readonly ReturnType<typeof toJob>[],
): Promise<void> {
  if (jobs.length === 0) return;
  // Only of these jobs: a large day may have very many that are delayed.
  const dueTimes = await client.zmscore(queue.toKey('delayed'), ...jobs.map(({ opts }) => opts.jobId));
  for (const [index, { opts }] of jobs.entries()) {
    const held = dueTimes[index] == null ? undefined : await queue.getJob(opts.jobId);
    if (!held || held.timestamp + held.delay <= opts.timestamp + opts.delay) continue;
    // It may be handed out meanwhile.
    await held.changeDelay(opts.delay).catch(() => {});
  }
}

/** While the counter of BullMQ's rate limit has this value, no worker of any process takes a job. */
const fullCounter = String(Number.MAX_SAFE_INTEGER);

/** Like `Queue.rateLimit`, which would replace a longer time by a shorter one, and does not say whether one was in force. */
const holdOffScript = `
local held = redis.call('GET', KEYS[1])
local isHeld = held == ARGV[1]
if isHeld and redis.call('PTTL', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return isHeld and 0 or 1
`;

/**
 * @param forMs whole milliseconds from now, more than 0
 * @returns whether no hold-off was in force before
 */
async function holdOffAllWorkers(client: Redis, queue: Queue, forMs: number): Promise<boolean> {
  return (await client.eval(holdOffScript, 1, queue.toKey('limiter'), fullCounter, forMs)) === 1;
}

/** Removes the waiting jobs of a run; those held by a worker stay. */
async function dropWaiting(queue: Queue, runId: string): Promise<void> {
  const prefix = jobIdPrefix(runId);
  const ids = await queue.getRanges(['delayed', 'prioritized', 'wait'], 0, -1);
  await Promise.all(ids.filter((id) => id.startsWith(prefix)).map((id) => queue.remove(id)));
}

import type { JobsOptions, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { QueuedStep, StepReference } from '../review/queue.js';

/** All jobs have the same name in BullMQ; the reference says which step it is. */
export const jobName = 'step';
/** Shared by all processes. */
export const queueName = 'hotel-review-steps';
export const queuePrefix = 'hotel-review';

/**
 * BullMQ takes jobs without a priority first. Every step has one, because jobs of equal priority keep their order; what
 * BullMQ puts back after its worker died goes first.
 */
const priorities = { urgent: 1, normal: 2 };

export interface StepJob {
  readonly name: typeof jobName;
  readonly data: StepReference;
  readonly opts: JobsOptions;
}

export function toJob({ runId, step, attempt, notBefore, isUrgent }: QueuedStep, now: number): StepJob {
  return {
    name: jobName,
    data: { runId, step, attempt },
    opts: {
      jobId: jobIdOf({ runId, step, attempt }),
      priority: isUrgent ? priorities.urgent : priorities.normal,
      timestamp: now,
      ...(notBefore !== undefined && notBefore > now && { delay: Math.ceil(notBefore - now) }),
    },
  };
}

/**
 * What a job refers to; undefined for one that none of our queues wrote: anybody who can write to Redis may invent
 * jobs.
 */
export function readReference(data: unknown): StepReference | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { runId, step, attempt } = data as Readonly<Record<string, unknown>>;
  if (typeof runId !== 'string' || typeof step !== 'string') return undefined;
  return Number.isSafeInteger(attempt) ? { runId, step, attempt: Number(attempt) } : undefined;
}

/** At most one job per reference. BullMQ allows no colon in an id. */
function jobIdOf({ runId, step, attempt }: StepReference): string {
  return `${jobIdPrefix(runId)}${encodeURIComponent(step)}/${attempt}`;
}

/** Starts the ids of a run's jobs and of no others; contains no character that is special in Redis patterns. */
function jobIdPrefix(runId: string): string {
  return `${encodeURIComponent(runId).replaceAll('*', '%2A')}/`;
}

/** BullMQ's score of a delayed job: its due time, and a number below this one that keeps jobs of one instant in order. */
const scoresPerMillisecond = 0x1000;
/** Clocks of several machines differ by less. */
const clockToleranceMs = 1_000;

/**
 * Brings jobs forward that already wait and are due later than asked now. BullMQ ignores a job that it holds, and keeps
 * the due time by the clock of the process that added it, which may have been ahead.
 */
export async function bringForward(client: Redis, queue: Queue, jobs: readonly StepJob[]): Promise<void> {
  const delayed = queue.toKey('delayed');
  if ((await client.zcard(delayed)) === 0) return;
  const reading = client.pipeline();
  for (const { opts } of jobs) reading.zscore(delayed, opts.jobId ?? '');
  const scores = (await reading.exec()) ?? [];
  for (const [index, { opts }] of jobs.entries()) {
    const { jobId = '', timestamp = 0, delay = 0 } = opts;
    const score = Number(scores[index]?.[1] ?? 0);
    if (score / scoresPerMillisecond <= timestamp + delay + clockToleranceMs) continue;
    // It may be handed out meanwhile.
    await (await queue.getJob(jobId))?.changeDelay(delay).catch(() => {});
  }
}

/** While the counter of BullMQ's rate limit has this value, no worker of any process takes a job. */
const fullCounter = String(Number.MAX_SAFE_INTEGER);

/** Like `Queue.rateLimit`, but a shorter time never replaces a longer one. */
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
export async function holdOffAllWorkers(client: Redis, queue: Queue, forMs: number): Promise<boolean> {
  return (await client.eval(holdOffScript, 1, queue.toKey('limiter'), fullCounter, forMs)) === 1;
}

const dropPageSize = 1_000;

/**
 * Removes the waiting jobs of a run, a page at a time; those held by a worker stay. Jobs move from delayed to
 * prioritised and never back, so this order misses none.
 */
export async function dropWaiting(client: Redis, queue: Queue, runId: string): Promise<void> {
  const prefix = jobIdPrefix(runId);
  for (const list of ['delayed', 'prioritized']) {
    for await (const ids of scanSorted(client, queue.toKey(list), `${prefix}*`)) await remove(queue, ids);
  }
  // This list holds only jobs that were put back because their worker died.
  const putBack = await client.lrange(queue.toKey('wait'), 0, -1);
  await remove(
    queue,
    putBack.filter((id) => id.startsWith(prefix)),
  );
}

async function* scanSorted(client: Redis, key: string, pattern: string): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const [next, found] = await client.zscan(key, cursor, 'MATCH', pattern, 'COUNT', dropPageSize);
    yield found.filter((_, index) => index % 2 === 0);
    cursor = next;
  } while (cursor !== '0');
}

async function remove(queue: Queue, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => queue.remove(id)));
}

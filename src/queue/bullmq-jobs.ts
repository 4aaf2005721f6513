import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { QueuedStep, StepReference } from '../booking/step-queue.js';

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

export type StepJob = ReturnType<typeof toJob>;

export function toJob({ runId, step, attempt, notBefore, isUrgent }: QueuedStep, now: number) {
  return {
    name: jobName,
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
export function readReference(data: unknown): StepReference | undefined {
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
export async function bringForward(client: Redis, queue: Queue, jobs: readonly StepJob[]): Promise<void> {
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
export async function holdOffAllWorkers(client: Redis, queue: Queue, forMs: number): Promise<boolean> {
  return (await client.eval(holdOffScript, 1, queue.toKey('limiter'), fullCounter, forMs)) === 1;
}

/** Removes the waiting jobs of a run; those held by a worker stay. */
export async function dropWaiting(queue: Queue, runId: string): Promise<void> {
  const prefix = jobIdPrefix(runId);
  const ids = await queue.getRanges(['delayed', 'prioritized', 'wait'], 0, -1);
  await Promise.all(ids.filter((id) => id.startsWith(prefix)).map((id) => queue.remove(id)));
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

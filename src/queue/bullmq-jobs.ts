import type { JobsOptions, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { QueuedStep, StepReference } from '../review/queue.js';

/** What the name of a job in BullMQ is for, the reference says: all have the same. */
export const jobName = 'step';
/** What all processes share. */
export const queueName = 'hotel-review-steps';
export const queuePrefix = 'hotel-review';

/**
 * BullMQ takes what has no priority before all that has one. The steps have one each, for among equals it keeps the order;
 * what it puts back, because its worker is gone, goes first.
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

/** Of a reference there is one job at most. BullMQ wants no colon in it. */
function jobIdOf({ runId, step, attempt }: StepReference): string {
  return `${jobIdStart(runId)}${encodeURIComponent(step)}/${attempt}`;
}

/** What the ids of a run's jobs start with, and no others; without a sign that patterns of Redis know. */
export function jobIdStart(runId: string): string {
  return `${encodeURIComponent(runId).replaceAll('*', '%2A')}/`;
}

/** While the counter of BullMQ's rate limit stands at that, no worker of any process takes a job. */
const fullCounter = String(Number.MAX_SAFE_INTEGER);

/** What `Queue.rateLimit` does, but a shorter time never replaces a longer one. */
const holdOffScript = `
local held = redis.call('GET', KEYS[1])
if held == ARGV[1] and redis.call('PTTL', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`;

/** @param forMs whole milliseconds from now, more than 0 */
export async function holdOffAllWorkers(client: Redis, queue: Queue, forMs: number): Promise<void> {
  await client.eval(holdOffScript, 1, queue.toKey('limiter'), fullCounter, forMs);
}

const pageSize = 1_000;

/**
 * Removes what waits of a run, a page at a time; what a worker holds stays. Jobs move from the delayed to the
 * prioritised ones and never back, so looking in that order misses none.
 */
export async function dropWaiting(client: Redis, queue: Queue, runId: string): Promise<void> {
  const start = jobIdStart(runId);
  for (const list of ['delayed', 'prioritized']) {
    for await (const ids of scanSorted(client, queue.toKey(list), `${start}*`)) await remove(queue, ids);
  }
  // Here stands only what was put back because its worker was gone.
  const putBack = await client.lrange(queue.toKey('wait'), 0, -1);
  await remove(
    queue,
    putBack.filter((id) => id.startsWith(start)),
  );
}

async function* scanSorted(client: Redis, key: string, pattern: string): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const [next, found] = await client.zscan(key, cursor, 'MATCH', pattern, 'COUNT', pageSize);
    yield found.filter((_, index) => index % 2 === 0);
    cursor = next;
  } while (cursor !== '0');
}

async function remove(queue: Queue, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => queue.remove(id)));
}

import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

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

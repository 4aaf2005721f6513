import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { jobIdStart } from './job.js';

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

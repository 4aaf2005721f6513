import type { Log } from '../src/cli/log.js';
import type { Config } from '../src/config/load.js';

/** How long a starting process waits for Redis to describe itself. */
const answerMs = 3_000;

/** Logs what should be fixed about Redis when a long-running process starts. The process continues, or waits for Redis. */
export async function logQueueProblems({ queue }: Config, log: Log, signal: AbortSignal): Promise<void> {
  if (queue.kind !== 'redis') return;
  const { checkQueue } = await import('../src/doctor/queue.js');
  for (const { verdict, message, advice } of await checkQueue({ url: queue.url, answerMs }, signal)) {
    if (verdict !== 'ok') log[verdict === 'wrong' ? 'error' : 'warn']({ advice }, `redis: ${message}`);
  }
}

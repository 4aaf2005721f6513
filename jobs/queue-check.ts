import type { Log } from '../src/cli/log.js';
import type { Config } from '../src/config/load.js';

/** How long a start waits for what Redis says of itself. */
const answerMs = 3_000;

/** Tells at the start of a process that stays what is to be mended at its Redis. It works all the same, or waits. */
export async function tellOfQueue({ queue }: Config, log: Log, signal: AbortSignal): Promise<void> {
  if (queue.kind !== 'redis') return;
  const { checkQueue } = await import('../src/doctor/queue.js');
  for (const { verdict, message, advice } of await checkQueue({ url: queue.url, answerMs }, signal)) {
    if (verdict !== 'ok') log[verdict === 'wrong' ? 'error' : 'warn']({ advice }, `redis: ${message}`);
  }
}

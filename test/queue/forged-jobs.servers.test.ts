import { Queue } from 'bullmq';
import { expect, it } from 'vitest';
import { queueName, queuePrefix } from '../../src/queue/redis-connection.js';
import { settled, stepsOf } from '../contracts/queue-worker.js';
import { useRedis } from '../support/use-servers.js';
import { useQueues } from './opened-queues.js';

const redis = useRedis();
const openQueue = useQueues();

/** What an intruder in Redis may write. */
const forged: readonly unknown[] = [
  null,
  7,
  'run-0',
  [],
  {},
  { runId: { toString: 1 }, step: 'first', attempt: 1 },
  { runId: 'run-0', step: ['first'], attempt: 1 },
  { runId: 'run-0', step: 'first', attempt: '1' },
  { runId: 'run-0', step: 'first', attempt: 1.5 },
  { runId: 'run-0', step: 'first', attempt: { __proto__: 1 } },
  { __proto__: { runId: 'run-0' }, constructor: 1 },
];

it('forged jobs reach no ledger, and hold up no step', async () => {
  const { queue, worker } = openQueue({ url: redis().url });
  const forger = new Queue(queueName, { prefix: queuePrefix, connection: { url: redis().url } });
  for (const data of forged) await forger.add('step', data, { priority: 1 });
  const broken = await forger.add('step', {}, { priority: 1 });
  await redis().ask((client) => client.hset(forger.toKey(broken.id ?? ''), 'data', '{"runId":'));
  await forger.close();
  worker.start();
  await queue.add(stepsOf('run-1', 3));
  await settled(() => expect(worker.log.filter((line) => line.startsWith('ended'))).toHaveLength(3));
  expect(worker.names().every((name) => name.startsWith('run-1 '))).toBe(true);
});

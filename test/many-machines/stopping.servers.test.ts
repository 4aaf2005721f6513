import { expect, it } from 'vitest';
import { success } from '../support/http-stand-in.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { batchSize, prepareMachines, stepsPerProcess } from './machines.js';

const redis = useRedis();
const postgres = usePostgres();

it('a worker that is asked to stop while the service hangs gives its steps back and ends, and another one has them at once', async () => {
  const { standIn, ledger, ...machines } = await prepareMachines({
    redis: redis(),
    postgres: postgres(),
    bookings: 100,
    // Leases and calls that last longer than a test may: whoever waited for their end would fail.
    settings: { service: { timeoutSeconds: 3_600 }, workers: { leaseSeconds: 3_600, stopSeconds: 1 } },
    async handler(request, number) {
      await request.readBody();
      return number <= stepsPerProcess ? { kind: 'hang' } : success;
    },
  });
  const first = await machines.startWorker();
  await machines.detach();
  await standIn.received(stepsPerProcess);
  expect(await ledger.run()).toMatchObject({ running: stepsPerProcess, done: 0 });
  first.kill('SIGTERM');
  expect(await first.ended).toMatchObject({ exitCode: 0, signal: null });
  expect(await ledger.run()).toMatchObject({ running: 0, state: 'delivering' });

  await machines.callWorker();
  expect((await machines.completed()).counts.repeated).toBe(stepsPerProcess * batchSize);
});

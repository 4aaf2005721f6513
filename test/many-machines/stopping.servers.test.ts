import { expect, it, vi } from 'vitest';
import { createGate } from '../support/gate.js';
import { refusal, success } from '../support/http-stand-in.js';
import { csvOf } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { startWebhookReceiver } from '../support/webhook-receiver.js';
import { batchSize, prepareMachines, stepsPerProcess } from './machines.js';

const redis = useRedis();
const postgres = usePostgres();

it('a worker that is asked to stop while the service hangs gives its steps back and ends, and another one has them at once, and tells what comes of a day whose process has ended', async () => {
  const receiver = await startWebhookReceiver();
  let isRefusing = false;
  const detached = createGate();
  const { standIn, ledger, folder, ...machines } = await prepareMachines({
    redis: redis(),
    postgres: postgres(),
    bookings: 100,
    // Leases and calls that last longer than a test may: whoever waited for their end would fail.
    settings: {
      service: { timeoutSeconds: 3_600 },
      workers: { leaseSeconds: 3_600, stopSeconds: 1 },
      notify: [receiver.channel],
    },
    async handler(request, number) {
      await request.readBody();
      if (isRefusing) {
        // Otherwise the day may have failed before its process looks at it a last time.
        await detached.passed;
        return refusal(2003);
      }
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

  isRefusing = true;
  const next = '2026-11-21';
  await folder.writeBookings(csvOf(30), next);
  expect((await folder.run(['run', '--day', next, '--detach'])).exitCode).toBe(0);
  detached.open();
  await vi.waitUntil(() => receiver.arrived.length > 1, { timeout: patienceMs });
  expect(receiver.takeNew()).toEqual([`run-failed ${next}`, `credentials-refused ${next}`]);
});

import { expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { prepareMachines, stepsPerProcess } from './machines.js';

const redis = useRedis();
const postgres = usePostgres();

const answered = 6;

it('a `run` and a worker share a day while PostgreSQL restarts as after a power cut: both go on, nothing that was recorded is sent again, and the `run` ends with the day', async () => {
  const gate = createGate();
  const { standIn, ledger, arrivals, folder, ...machines } = await prepareMachines({
    redis: redis(),
    postgres: postgres(),
    bookings: 300,
    async handler(request, number) {
      await request.readBody();
      if (number > answered) await gate.passed;
      return success;
    },
  });
  const worker = await machines.callWorker();
  const run = folder.start(['run', '--day', day, '--json']);
  await standIn.received(answered + 2 * stepsPerProcess);
  await ledger.reaches(({ done }) => done === answered);
  await arrivals.check();
  await postgres().stop();
  // Their answers arrive while they can't be recorded.
  gate.open();
  await expect(ledger.run()).rejects.toThrow();
  await postgres().start();

  expectReport(await run.ended, { exitCode: 0, state: 'succeeded', counts: { delivered: 300 } });
  await machines.completed();
  expect(worker.hasEnded).toBe(false);
});

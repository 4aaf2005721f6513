import { expect, it } from 'vitest';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { freeze } from '../support/sftp-server.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { batchSize, prepareMachines, stepsPerProcess } from './machines.js';

const redis = useRedis();
const postgres = usePostgres();

/** This many batches are answered at once; then the service holds the next ones, which two workers have in flight. */
const answered = 4;
const held = 2 * stepsPerProcess;

it('of two workers with calls in flight one is killed and one is frozen: a third sends what they had, nothing that was recorded is sent again, and the frozen one records nothing when it thaws', async () => {
  const gate = createGate();
  const { standIn, ledger, arrivals, ...machines } = await prepareMachines({
    redis: redis(),
    postgres: postgres(),
    bookings: 200,
    async handler(request, number) {
      await request.readBody();
      if (number > answered && number <= answered + held) await gate.passed;
      return success;
    },
  });
  const killed = await machines.startWorker();
  const frozen = await machines.startWorker();
  await machines.detach();
  await standIn.received(answered + held);
  await ledger.reaches(({ done }) => done === answered);
  await arrivals.check();
  killed.kill('SIGKILL');
  expect((await killed.ended).signal).toBe('SIGKILL');
  await freeze(frozen.pid);

  const third = await machines.callWorker();
  expect((await machines.completed()).counts.repeated).toBe(held * batchSize);

  const before = await ledger.dump();
  gate.open();
  frozen.kill('SIGCONT');
  await frozen.wrote('superseded');
  expect(await ledger.dump()).toEqual(before);
  await machines.completed();
  expect([third.hasEnded, frozen.hasEnded]).toEqual([false, false]);
});

import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CalledCommand, RunningCommand } from '../support/command.js';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { isNightly } from '../support/nightly.js';
import { type RunningRedis, redisNeeds, startRedis } from '../support/redis.js';
import { usePostgres } from '../support/use-servers.js';
import {
  expectCompleted,
  type Machines,
  prepareMachines,
  readDelivered,
  stepsPerProcess,
  until,
} from './machines.js';

const postgres = usePostgres();
let redis: RunningRedis;
beforeEach(async ({ skip }) => {
  skip(redisNeeds !== undefined, redisNeeds);
  redis = await startRedis();
});
afterEach(() => redis?.close());

/** This many batches are answered at once; then the service holds requests until the fault has happened. */
const answered = 6;
const processes = 2;
/** Longer than the queue's time limit for an answer and the pauses between its attempts. */
const downForMs = isNightly ? 30_000 : 6_000;

describe('a day during which Redis', () => {
  it('loses everything is completed from the ledger, and nothing is sent twice', async () => {
    const { machines, release } = await prepareHeldDay();
    const before = await readDelivered(machines);
    expect(await redis.readEverything()).toContain('hotel-review');
    await redis.flushAll();
    release();
    const { counts } = await expectCompleted(machines, { before: [before] });
    expect(counts.repeated).toBe(0);
  });

  it('is killed and comes back empty is completed from the ledger, and nothing is sent twice', async () => {
    const { machines, workers, release } = await prepareHeldDay();
    const before = await readDelivered(machines);
    await redis.kill();
    for (const worker of workers) await worker.wrote('queue away');
    release();
    await machines.database.until(({ done }) => done === answered + processes * stepsPerProcess);
    await redis.startAgain({ empty: true });
    const { counts } = await expectCompleted(machines, { before: [before] });
    expect(counts.repeated).toBe(0);
    for (const worker of workers) await worker.wrote('queue back');
  });

  it('is killed and comes back with its data is completed, and nothing is sent twice', async () => {
    const { machines, release } = await prepareHeldDay();
    const before = await readDelivered(machines);
    await redis.kill();
    release();
    await machines.database.until(({ done }) => done === answered + processes * stepsPerProcess);
    await redis.startAgain({ empty: false });
    const { counts } = await expectCompleted(machines, { before: [before] });
    expect(counts.repeated).toBe(0);
  });

  it('is down for a long time is completed when it is back; meanwhile nothing is started, and nothing lost', async () => {
    const { machines, workers, release } = await prepareHeldDay();
    const before = await readDelivered(machines);
    await redis.freeze();
    release();
    await machines.database.until(({ done }) => done === answered + processes * stepsPerProcess);
    for (const worker of workers) await worker.wrote('queue away');
    const meanwhile = await readDelivered(machines);
    await pause(downForMs);
    expect(machines.standIn.requests).toHaveLength(answered + processes * stepsPerProcess);
    redis.thaw();
    const { counts } = await expectCompleted(machines, { before: [before, meanwhile] });
    expect(counts.repeated).toBe(0);
    expect(workers.map(({ hasEnded }) => hasEnded)).toEqual([false, false]);
  });
});

/** Two fully occupied workers on a day in progress, one of them in a process of its own. */
async function prepareHeldDay(): Promise<{
  machines: Machines;
  workers: readonly (RunningCommand | CalledCommand)[];
  release: () => void;
}> {
  const gate = createGate();
  const machines = await prepareMachines({
    redis,
    postgres: postgres(),
    bookings: 300,
    async handler(request, number) {
      await request.readBody();
      if (number > answered) await gate.passed;
      return success;
    },
  });
  const workers = await Promise.all([machines.startWorker(), machines.callWorker()]);
  await machines.detach();
  await machines.standIn.received(answered + processes * stepsPerProcess);
  await until(async () => (await machines.database.run())?.done === answered);
  return { machines, workers, release: gate.open };
}

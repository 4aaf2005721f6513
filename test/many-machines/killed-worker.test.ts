import { describe, expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { freeze } from '../support/processes.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import {
  batchSize,
  expectCompleted,
  type Machines,
  prepareMachines,
  readDelivered,
  stepsPerProcess,
  until,
} from './machines.js';

const redis = useRedis();
const postgres = usePostgres();

describe('one of two workers', () => {
  it('is killed in mid-batch: the other one sends what was in flight, and nothing that was recorded', async () => {
    const { machines, release } = await prepareHeldWorker();
    const first = await machines.startWorker();
    await machines.standIn.received(stepsPerProcess);
    const second = await machines.startWorker();
    await machines.database.until(({ done }) => done >= 5);

    const before = await readDelivered(machines);
    expect(await machines.database.run()).toMatchObject({ state: 'delivering' });
    first.kill('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');

    const { counts } = await expectCompleted(machines, { before: [before] });
    expect(counts.repeated).toBe(stepsPerProcess * batchSize);
    expect(second.hasEnded).toBe(false);
    release();
  });

  it.each(['answered meanwhile', 'not answered yet'] as const)(
    'is frozen past its lease: when it thaws, %s, it records nothing of what the other one has done',
    async (service) => {
      const { machines, release } = await prepareHeldWorker();
      const first = await machines.startWorker();
      await machines.standIn.received(stepsPerProcess);
      await freeze(first);
      const before = await readDelivered(machines);
      await machines.startWorker();
      const { counts } = await expectCompleted(machines, { before: [before] });
      expect(counts.repeated).toBe(stepsPerProcess * batchSize);

      const steps = await machines.database.query('SELECT * FROM hotel_review.steps ORDER BY position');
      const attempts = await machines.database.query(
        'SELECT * FROM hotel_review.attempts ORDER BY step, attempt',
      );
      if (service === 'answered meanwhile') release();
      first.kill('SIGCONT');
      await first.wrote('superseded');
      release();
      expect(await machines.database.query('SELECT * FROM hotel_review.steps ORDER BY position')).toEqual(
        steps,
      );
      expect(
        await machines.database.query('SELECT * FROM hotel_review.attempts ORDER BY step, attempt'),
      ).toEqual(attempts);
      await expectCompleted(machines, { before: [before] });
      expect(first.hasEnded).toBe(false);
    },
  );
});

describe('a `run` that is frozen in mid-collect past its lease', () => {
  it('stores nothing when it thaws, joins what another one has collected, and ends with its run', async () => {
    const machines = await prepareMachines({
      redis: redis(),
      postgres: postgres(),
      bookings: 40_000,
      settings: { body: { batchSize: 2_000, concurrency: stepsPerProcess } },
    });
    const first = machines.folder.start(['run', '--day', day, '--json']);
    const { read } = await machines.database.until((run) => run.read > 0);
    await freeze(first);
    expect(read).toBeLessThan(40_000);
    expect(await machines.database.run()).toMatchObject({ state: 'collecting', token: 1 });

    const second = await machines.folder.runDay();
    expect(second.exitCode).toBe(0);
    first.kill('SIGCONT');
    const thawed = await first.ended;
    // What it finds when it thaws is done already.
    expect(thawed).toMatchObject({ exitCode: 0 });
    expect(thawed.report).toMatchObject({ runId: second.report.runId, state: 'succeeded' });
    const { counts } = await expectCompleted(machines);
    expect(counts.repeated).toBe(0);
    expect(await machines.database.run()).toMatchObject({ token: 2 });
  });
});

/** The service holds the first batches: the worker that is started first has these in flight, and no others. */
async function prepareHeldWorker(): Promise<{ machines: Machines; release: () => void }> {
  const gate = createGate();
  const machines = await prepareMachines({
    redis: redis(),
    postgres: postgres(),
    bookings: 200,
    async handler(request, number) {
      await request.readBody();
      if (number <= stepsPerProcess) await gate.passed;
      return success;
    },
  });
  await machines.detach();
  await until(async () => (await machines.database.run())?.state === 'delivering');
  return { machines, release: gate.open };
}

import { describe, expect, it } from 'vitest';
import { day, prepareDay } from '../support/day-folder.js';
import { expectEachOnce } from '../support/expectations.js';
import { createGate } from '../support/gate.js';
import { startHeldSource } from '../support/held-source.js';
import { hookSecret as secret } from '../support/hook-secrets.js';
import { type StandInHandler, success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { redisNeeds, startRedis } from '../support/redis.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import {
  batchSize,
  expectCompleted,
  prepareMachines,
  readDelivered,
  stepsPerProcess,
  until,
} from './machines.js';
import { serve, timezone, yesterday } from './serving.js';

const redis = useRedis();
const postgres = usePostgres();

/** Leases and calls that last longer than a test may: one that waited for their end would fail. */
const longLease = {
  service: { timeoutSeconds: 3_600 },
  workers: { leaseSeconds: 3_600, stopSeconds: 1 },
};

describe('a worker that is asked to stop', () => {
  it('while the service hangs ends cleanly, and another one continues at once', async () => {
    const machines = await prepareMachines({
      redis: redis(),
      postgres: postgres(),
      bookings: 100,
      settings: longLease,
      handler: hangFirst(stepsPerProcess),
    });
    const first = await machines.startWorker();
    await machines.detach();
    await machines.standIn.received(stepsPerProcess);
    expect(await machines.database.run()).toMatchObject({ running: stepsPerProcess, done: 0 });
    first.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ exitCode: 0, signal: null });
    expect(await machines.database.run()).toMatchObject({ running: 0, state: 'delivering' });

    await machines.callWorker();
    const { counts } = await expectCompleted(machines);
    expect(counts.repeated).toBe(stepsPerProcess * batchSize);
  });

  it('finishes its steps in progress, if they come to an end, and records them', async () => {
    const gate = createGate();
    const machines = await prepareMachines({
      redis: redis(),
      postgres: postgres(),
      bookings: 100,
      settings: { ...longLease, workers: { ...longLease.workers, stopSeconds: 600 } },
      async handler(request, number) {
        await request.readBody();
        if (number <= stepsPerProcess) await gate.passed;
        return success;
      },
    });
    const first = await machines.startWorker();
    await machines.detach();
    await machines.standIn.received(stepsPerProcess);
    first.kill('SIGTERM');
    await first.wrote('"stopping"');
    gate.open();
    expect(await first.ended).toMatchObject({ exitCode: 0 });
    expect(machines.standIn.requests).toHaveLength(stepsPerProcess);
    const before = await readDelivered(machines);
    expect(before.size).toBe(stepsPerProcess * batchSize);
    await machines.callWorker();
    expect((await expectCompleted(machines, { before: [before] })).counts.repeated).toBe(0);
  });

  it('while PostgreSQL is down ends soon, and its steps in progress are found when their lease expires', async () => {
    const gate = createGate();
    const machines = await prepareMachines({
      redis: redis(),
      postgres: postgres(),
      bookings: 100,
      settings: { workers: { leaseSeconds: 2, stopSeconds: 1 } },
      async handler(request, number) {
        await request.readBody();
        if (number <= stepsPerProcess) await gate.passed;
        return success;
      },
    });
    const first = await machines.startWorker();
    await machines.detach();
    await machines.standIn.received(stepsPerProcess);
    await postgres().stop();
    try {
      gate.open();
      first.kill('SIGTERM');
      await first.ended;
    } finally {
      await postgres().start();
    }
    await machines.callWorker();
    await expectCompleted(machines);
  });

  it('while Redis hangs ends soon, and another one continues when it is back', async ({ skip }) => {
    skip(redisNeeds !== undefined, redisNeeds);
    const own = await startRedis();
    try {
      const machines = await prepareMachines({
        redis: own,
        postgres: postgres(),
        bookings: 100,
        settings: longLease,
        handler: hangFirst(stepsPerProcess),
      });
      const first = await machines.startWorker();
      await machines.detach();
      await machines.standIn.received(stepsPerProcess);
      await own.freeze();
      first.kill('SIGTERM');
      expect(await first.ended).toMatchObject({ exitCode: 0 });
      own.thaw();
      await machines.callWorker();
      await expectCompleted(machines);
    } finally {
      await own.close();
    }
  });

  it('ends at once when asked twice', async () => {
    const machines = await prepareMachines({
      redis: redis(),
      postgres: postgres(),
      bookings: 100,
      settings: { workers: { leaseSeconds: 2, stopSeconds: 3_600 } },
      handler: hangFirst(stepsPerProcess),
    });
    const first = await machines.startWorker();
    await machines.detach();
    await machines.standIn.received(stepsPerProcess);
    first.kill('SIGTERM');
    await first.wrote('"stopping"');
    first.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ exitCode: 1 });
    await machines.callWorker();
    await expectCompleted(machines);
  });
});

describe('a `run` that is asked to stop', () => {
  it('leaves the rest to the workers, and the next one says that the day is done', async () => {
    const gate = createGate();
    const machines = await prepareMachines({
      redis: redis(),
      postgres: postgres(),
      bookings: 200,
      settings: longLease,
      async handler(request, number) {
        await request.readBody();
        if (number > 4) await gate.passed;
        return success;
      },
    });
    const run = machines.folder.start(['run', '--day', day, '--json']);
    await machines.standIn.received(4 + stepsPerProcess);
    const before = await readDelivered(machines);
    run.kill('SIGTERM');
    const { exitCode, report } = await run.ended;
    expect(exitCode).toBe(1);
    expect(report).toMatchObject({ state: 'delivering' });
    gate.open();
    await machines.callWorker();
    await expectCompleted(machines, { before: [before] });
    const next = await machines.folder.runDay();
    expect(next.exitCode).toBe(0);
    expect(next.stderr).toContain('is already done');
    expect(next.report.runId).toBe(report.runId);
  });
});

describe('`serve`, when asked to stop', () => {
  const settings = { timezone, hook: { secret }, service: longLease.service, workers: { stopSeconds: 600 } };
  const bookings = makeBookings(100);

  it('in mid-collect ends cleanly, and the next run collects the day again', async () => {
    const many = makeBookings(7_000);
    const source = await startHeldSource({ after: 6_000 });
    source.serve(many);
    const { folder, standIn } = await prepareDay({
      settings: { ...settings, source: source.settings, body: { batchSize: 1_000 } },
    });
    const { command, ask, get } = await serve(folder);
    const { body } = await ask(yesterday.iso);
    await until(async () =>
      /"state":"collecting".*"read":[1-9]/.test((await get(`/runs/${body.runId}`)).text),
    );
    command.kill('SIGTERM');
    const { exitCode, stderr } = await command.ended;
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain('broke off');
    expect(standIn.requests).toHaveLength(0);
    source.giveRest();
    const { report } = await folder.run(['run', '--day', yesterday.iso, '--json']);
    expect(report).toMatchObject({
      runId: body.runId,
      state: 'succeeded',
      counts: { read: 7_000, repeated: 0 },
    });
    expectEachOnce(standIn, many);
  });

  it('in mid-delivery finishes and records its steps in progress: nothing is sent again', async () => {
    const gate = createGate();
    const { folder, standIn } = await prepareDay({ settings }, async (request, number) => {
      await request.readBody();
      if (number <= 4) await gate.passed;
      return success;
    });
    await folder.configure({ body: { batchSize: 10, concurrency: 4 } });
    await folder.writeBookings(toCsv(bookings), yesterday.iso);
    const { command, ask } = await serve(folder);
    const { body } = await ask(yesterday.iso);
    await standIn.received(4);
    command.kill('SIGTERM');
    await command.wrote('"stopping"');
    gate.open();
    const { exitCode, stderr } = await command.ended;
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain('broke off');
    const { report } = await folder.run(['run', '--day', yesterday.iso, '--json']);
    expect(report).toMatchObject({
      runId: body.runId,
      state: 'succeeded',
      counts: { delivered: 100, repeated: 0 },
    });
    expectEachOnce(standIn, bookings);
  });

  it('while the service hangs abandons its steps in progress within the configured seconds', async () => {
    const { folder, standIn } = await prepareDay({ settings }, hangFirst(2));
    await folder.configure({ workers: { stopSeconds: 0.5 } });
    await folder.writeBookings(toCsv(bookings), yesterday.iso);
    const { command, ask } = await serve(folder);
    await ask(yesterday.iso);
    await standIn.received(2);
    command.kill('SIGTERM');
    expect((await command.ended).exitCode).toBe(0);
    const { report } = await folder.run(['run', '--day', yesterday.iso, '--json']);
    expect(report).toMatchObject({ state: 'succeeded', counts: { delivered: 100, repeated: 100 } });
  });
});

/** Never answers the first `count` requests. */
function hangFirst(count: number): StandInHandler {
  return async (request, number) => {
    await request.readBody();
    return number <= count ? { kind: 'hang' } : success;
  };
}

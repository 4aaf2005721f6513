import { describe, expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { prepareFileDay } from '../support/file-day.js';
import { createGate } from '../support/gate.js';
import { startHeldSource } from '../support/held-source.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { startForSuite, usePostgres, useRedis } from '../support/use-servers.js';
import { watchDatabase } from './database-watch.js';
import {
  callWorker,
  expectCompleted,
  prepareMachines,
  readDelivered,
  sharedSettings,
  startWorker,
  stepsPerProcess,
  until,
} from './machines.js';

const redis = useRedis();
const postgres = usePostgres();
const newServer = startForSuite(openSsh);

describe('a day during which PostgreSQL restarts as after a power cut', () => {
  it('by body: is completed by the running workers, and nothing that was recorded is sent again', async () => {
    const gate = createGate();
    const machines = await prepareMachines({
      redis: redis(),
      postgres: postgres(),
      bookings: 300,
      async handler(request, number) {
        await request.readBody();
        if (number > 6) await gate.passed;
        return success;
      },
    });
    const workers = await Promise.all([machines.startWorker(), machines.callWorker()]);
    await machines.detach();
    await machines.standIn.received(6 + 2 * stepsPerProcess);
    await until(async () => (await machines.database.run())?.done === 6);
    const before = await readDelivered(machines);
    expect(before.size).toBe(60);

    await postgres().stop();
    // Their answers arrive while they can't be recorded.
    gate.open();
    await expect(machines.database.run()).rejects.toThrow();
    await postgres().start();

    await expectCompleted(machines, { before: [before] });
    expect(workers.map(({ hasEnded }) => hasEnded)).toEqual([false, false]);
  });

  it('by body, during collect: the run that collects continues, and every booking is stored once', async () => {
    const source = await startHeldSource({ after: 6_000 });
    const machines = await prepareMachines({
      redis: redis(),
      postgres: postgres(),
      bookings: 7_000,
      settings: { source: source.settings, body: { batchSize: 500, concurrency: stepsPerProcess } },
    });
    source.serve(machines.bookings);
    const run = machines.folder.start(['run', '--day', day, '--json']);
    await machines.database.until(({ read }) => read > 0);
    await postgres().restartImmediate();
    expect(await machines.database.run()).toMatchObject({ state: 'collecting' });
    source.giveRest();
    const { report, exitCode } = await run.ended;
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ state: 'succeeded', counts: { read: 7_000, delivered: 7_000 } });
    await expectCompleted(machines);
  });

  it('by file: is completed, with one call for one file', async () => {
    const server = newServer();
    const url = await postgres().createDatabase();
    const database = watchDatabase(url);
    const shared = sharedSettings(url, redis().url);
    const { folder, service, listRemote } = await prepareFileDay(server, {
      bookings: toCsv(makeBookings(60)),
      settings: shared,
      async onCall(call) {
        await postgres().restartImmediate();
        await call.writeResult({ affected: ['BR-7'] });
        return success;
      },
    });
    const workers = await Promise.all([startWorker(folder), callWorker(folder)]);
    expect((await folder.run(['run', '--day', day, '--detach'])).exitCode).toBe(0);
    await database.until(({ state }) => state === 'succeeded');
    expect(service.calls).toHaveLength(1);
    expect(listRemote()).toEqual(['20112026.csv', '20112026_Result.csv']);
    const { json } = await folder.run(['status', day, '--json']);
    expect(json).toMatchObject({
      runs: [{ state: 'succeeded', counts: { delivered: 60, pending: 0, affected: 1 }, file: { rows: 60 } }],
    });
    expect(workers.map(({ hasEnded }) => hasEnded)).toEqual([false, false]);
  });
});

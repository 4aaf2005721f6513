import { describe, expect, it } from 'vitest';
import { createDayFolder, day } from '../support/day-folder.js';
import { expectError, expectReport } from '../support/expectations.js';
import { createGate } from '../support/gate.js';
import { startHeldSource } from '../support/held-source.js';
import { success } from '../support/http-stand-in.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { expectCompleted, type MachinesOptions, prepareMachines, stepsPerProcess } from './machines.js';

const redis = useRedis();
const postgres = usePostgres();

const prepare = (options: Pick<MachinesOptions, 'bookings' | 'handler' | 'settings'>) =>
  prepareMachines({ redis: redis(), postgres: postgres(), ...options });

describe('`run` with Redis', () => {
  it('does all the work if there is no worker', async () => {
    const machines = await prepare({ bookings: 100 });
    const result = await machines.folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 100, repeated: 0 } });
    expect((await expectCompleted(machines)).counts.repeated).toBe(0);
  });

  it('detached leaves the day to existing workers; a second one joins and ends with the run', async () => {
    const gate = createGate();
    const machines = await prepare({
      bookings: 100,
      async handler(request) {
        await request.readBody();
        await gate.passed;
        return success;
      },
    });
    await machines.callWorker();
    const detached = await machines.folder.run(['run', '--day', day, '--json', '--detach']);
    expect(detached.exitCode).toBe(0);
    expect(detached.report).toMatchObject({ state: 'delivering', counts: { delivered: 0, pending: 100 } });
    await machines.standIn.received(stepsPerProcess);
    const joined = machines.folder.call(['run', '--day', day, '--json']);
    // That it claims steps itself shows that it has joined.
    await machines.standIn.received(2 * stepsPerProcess);
    gate.open();
    expectReport(await joined.ended, {
      exitCode: 0,
      state: 'succeeded',
      counts: { delivered: 100, repeated: 0 },
    });
    expect((await joined.ended).report.runId).toBe(detached.report.runId);
    await expectCompleted(machines);
  });

  it('that joins also ends with the run’s code when the run fails, and nothing more is sent', async () => {
    const gate = createGate();
    const machines = await prepare({
      bookings: 200,
      async handler(request) {
        await request.readBody();
        await gate.passed;
        return { kind: 'json', status: 401, body: {} };
      },
    });
    const first = machines.folder.start(['run', '--day', day, '--json']);
    await machines.standIn.received(stepsPerProcess);
    const second = machines.folder.call(['run', '--day', day, '--json']);
    await machines.callWorker();
    await machines.standIn.received(3 * stepsPerProcess);
    gate.open();
    for (const command of [first, second]) {
      const result = await command.ended;
      expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0, pending: 200 } });
      expect(result.report.error?.class).toBe('fatal');
    }
    expect(machines.standIn.requests).toHaveLength(3 * stepsPerProcess);
    expect(await machines.database.countRuns()).toBe(1);
  });

  it('waits while another one collects, and then joins', async () => {
    const source = await startHeldSource({ after: 100 });
    const machines = await prepare({ bookings: 200, settings: { source: source.settings } });
    source.serve(machines.bookings);
    const first = machines.folder.start(['run', '--day', day, '--json']);
    await source.isAskedForRest();
    const second = machines.folder.call(['run', '--day', day, '--json', '--log-level', 'info']);
    await second.wrote('waiting: the day is being worked on by another process');
    source.giveRest();
    const [one, other] = await Promise.all([first.ended, second.ended]);
    for (const { exitCode, report } of [one, other]) {
      expect(exitCode).toBe(0);
      expect(report).toMatchObject({ state: 'succeeded', counts: { delivered: 200, repeated: 0 } });
    }
    expect(one.report.runId).toBe(other.report.runId);
    await expectCompleted(machines);
  });

  it('takes over the collect of one that was killed, once its lease has expired', async () => {
    const source = await startHeldSource({ after: 6_000 });
    const machines = await prepare({
      bookings: 7_000,
      settings: { source: source.settings, body: { batchSize: 1_000, concurrency: stepsPerProcess } },
    });
    source.serve(machines.bookings);
    const first = machines.folder.start(['run', '--day', day, '--json']);
    await machines.database.until(({ read }) => read > 0);
    first.kill('SIGKILL');
    await first.ended;
    expect(await machines.database.run()).toMatchObject({ state: 'collecting', token: 1 });
    source.giveRest();
    const { exitCode, report } = await machines.folder.runDay();
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ state: 'succeeded', counts: { read: 7_000, delivered: 7_000 } });
    expect(await machines.database.run()).toMatchObject({ token: 2 });
    await expectCompleted(machines);
  });
});

describe('`work`', () => {
  it('without Redis is a usage error, and says what to set', async () => {
    const folder = await createDayFolder({ baseUrl: 'http://127.0.0.1:9/api/3.0' });
    expectError(await folder.run(['work', '--json']), {
      exitCode: 2,
      class: 'usage',
      message: /set queue to redis/,
    });
  });
});

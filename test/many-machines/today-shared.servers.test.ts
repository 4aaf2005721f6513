import { describe, expect, it } from 'vitest';
import { expectEachOnce } from '../support/expectations.js';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { toCsv } from '../support/made-bookings.js';
import { usePostgres, useRedis } from '../support/use-servers.js';
import { batchSize, prepareMachines, stepsPerProcess } from './machines.js';
import { serve, timezone, today } from './serving.js';

const redis = useRedis();
const postgres = usePostgres();
const batches = 12;
const parts = () => ({ redis: redis(), postgres: postgres(), bookings: batches * batchSize });

/** A service that answers nothing until the gate is open. */
function createHeldService() {
  const gate = createGate();
  const handler = async (request: { readBody(): Promise<Buffer> }) => {
    await request.readBody();
    await gate.passed;
    return success;
  };
  return { gate, handler };
}

describe('a run of today with Redis', () => {
  it('is shared by all processes that serve, and `run` waits for what workers are sending of it', async () => {
    const { gate, handler } = createHeldService();
    const machines = await prepareMachines({
      ...parts(),
      handler,
      // All steps are held until the command has started: on a busy machine that takes longer than a short lease.
      settings: {
        timezone,
        schedule: { today: '0 0 * * *' },
        workers: { leaseSeconds: 60 },
      },
    });
    const { folder, standIn, bookings } = machines;
    await folder.writeBookings(toCsv(bookings), today.iso);
    await Promise.all([machines.startWorker(), machines.startWorker()]);
    const servers = await Promise.all([serve(folder), serve(folder)]);
    await standIn.received(4 * stepsPerProcess);
    const command = folder.start(['run', 'today', '--json']);
    await command.wrote('another process');
    gate.open();
    const { exitCode, report } = await command.ended;
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ trigger: 'manual', counts: { accepted: 0, duplicates: bookings.length } });
    expectEachOnce(standIn, bookings);
    for (const { command: serving } of servers) serving.kill('SIGTERM');
    expect(await Promise.all(servers.map(async (one) => (await one.command.ended).exitCode))).toEqual([0, 0]);
    expect(await machines.database.countRuns()).toBe(2);
  });
});

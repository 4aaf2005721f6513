import { describe, expect, it } from 'vitest';
import { expectEachOnce } from '../support/expectations.js';
import { createGate } from '../support/gate.js';
import { success } from '../support/http-stand-in.js';
import { toCsv } from '../support/made-bookings.js';
import { fillCopyOf, mappingOf } from '../support/mapping-truth.js';
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
        workers: { leaseSeconds: 60, reconcileSeconds: 0.5 },
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

describe('a watch run with Redis', () => {
  it('is finished by the workers when the process that started it is killed, and another watch joins it', async () => {
    const { gate, handler } = createHeldService();
    let isHeld = false;
    const machines = await prepareMachines({
      ...parts(),
      handler: (request) => (isHeld ? handler(request) : success),
      settings: { watch: { review: true } },
    });
    const { folder, standIn } = machines;
    const bookings = machines.bookings.map((booking, index) => ({
      ...booking,
      ...{ ServiceId: 5_000 + index, ProviderHotelId: `H-${index}` },
      ...{ CheckInDate: '2199-01-02', CheckOutDate: '2199-01-09' },
    }));
    await folder.writeBookings(toCsv(bookings));
    await Promise.all([machines.startWorker(), machines.startWorker()]);
    expect((await folder.runDay()).exitCode).toBe(0);
    const moved = bookings.map((booking) => ({ ...mappingOf(booking), isDeleted: true }));
    const rows = bookings.map(mappingOf);
    await fillCopyOf(folder, { rows, at: Date.UTC(2026, 10, 1) }, { rows: moved, at: Date.UTC(2026, 10, 2) });

    isHeld = true;
    const ofDay = standIn.requests.length;
    const killed = folder.start(['watch', '--json']);
    await standIn.received(ofDay + 3 * stepsPerProcess);
    killed.kill('SIGKILL');
    const joining = folder.start(['watch', '--json']);
    // The workers hold as many steps as they may: only the process that joins can send another.
    await standIn.received(ofDay + 3 * stepsPerProcess + 1);
    gate.open();
    const { exitCode, json, stderr } = await joining.ended;
    expect(exitCode, stderr).toBe(0);
    expect(json).toMatchObject({
      findings: [],
      sent: bookings.length,
      runs: [{ state: 'succeeded', counts: { accepted: bookings.length, pending: 0 } }],
    });
    expect(await machines.database.countRuns()).toBe(2);
    const again = standIn.accepted().slice(bookings.length);
    expect(new Set(again.map(({ BookingReferenceId }) => BookingReferenceId)).size).toBe(bookings.length);
  });
});

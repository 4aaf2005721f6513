import { expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { engine, runsEveryCase } from '../support/engine.js';
import { expectReport } from '../support/expectations.js';
import { createGate } from '../support/gate.js';
import { withEndlessEnd } from '../support/held-source.js';
import { success } from '../support/http-stand-in.js';
import { prepareReviewedDay, runArguments } from '../support/reviewed-day.js';

const batchSize = 50;
const inFlight = 4 * engine.performers;
const resumeCommand = `run --day ${day}`;

if (runsEveryCase) {
  it('SIGTERM in collect stops the run with 1 and nothing sent; the next one collects again and sends everything', async () => {
    const { folder, ledger, standIn, arrivals, bookings, records, csv } = await prepareReviewedDay({
      // Enough to be stored in several transactions.
      bookings: 12_000,
      settings: { body: { batchSize: 500 } },
    });
    await folder.writeBookings(withEndlessEnd(csv));
    const command = folder.start(runArguments);
    await ledger.reaches(({ read }) => read > 0);
    command.kill('SIGTERM');
    const stopped = await command.ended;
    expectReport(stopped, { exitCode: 1, state: 'collecting', counts: { delivered: 0 } });
    expect(stopped.report.counts.read).toBeGreaterThan(0);
    expect(stopped.stderr).toContain(resumeCommand);
    expect(standIn.requests).toEqual([]);

    await folder.writeBookings(csv);
    const next = await folder.runDay();
    expectReport(next, { exitCode: 0, state: 'succeeded', counts: { read: records, repeated: 0 } });
    expect(next.report.runId).toBe(stopped.report.runId);
    await arrivals.checkWhole(next.report, bookings);
  });
}

it.each(runsEveryCase ? (['SIGTERM', 'SIGINT'] as const) : (['SIGTERM'] as const))(
  '%s stops a delivery with 1, though the service hangs; the next run sends what was in flight again',
  async (signal) => {
    const answered = 6;
    const { folder, ledger, standIn, arrivals, bookings } = await prepareReviewedDay({
      bookings: 1_000,
      // A stop that waited for a call's end would wait for an hour.
      settings: { service: { timeoutSeconds: 3_600 } },
      handler: (_, number) =>
        number > answered && number <= answered + inFlight ? { kind: 'hang' } : success,
    });
    folder.start(runArguments);
    await standIn.received(answered + inFlight);
    folder.processes.signal(signal);
    const stopped = await folder.processes.ended();
    const counts = { delivered: answered * batchSize, pending: 1_000 - answered * batchSize };
    expectReport(stopped, { exitCode: 1, state: 'delivering', counts });
    expect(stopped.stderr).toContain(resumeCommand);
    expect(await ledger.run()).toMatchObject({ running: 0, done: answered });
    await arrivals.check();

    const next = await folder.runDay();
    expectReport(next, { exitCode: 0, state: 'succeeded', counts: { repeated: inFlight * batchSize } });
    expect(next.report.runId).toBe(stopped.report.runId);
    await arrivals.checkWhole(next.report, bookings);
    expect(standIn.requests).toHaveLength(20 + inFlight);
  },
);

it('SIGINT waits for a call that is answered in time, and records it', async () => {
  const gate = createGate();
  const { folder, ledger, standIn, arrivals, bookings } = await prepareReviewedDay({
    bookings: 1_000,
    settings: { body: { concurrency: 1 } },
    handler: async (request, number) => {
      await request.readBody();
      if (number > 2) await gate.passed;
      return success;
    },
  });
  const command = folder.start(runArguments);
  await standIn.received(2 + engine.performers);
  folder.processes.signal('SIGINT');
  for (const one of [command, ...folder.processes.workers]) await one.wrote(engine.wordsOfStop);
  gate.open();
  const stopped = await folder.processes.ended();
  expectReport(stopped, { exitCode: 1, state: 'delivering' });
  // Those before the stop and its own; calls that others had in flight may end after it.
  expect(stopped.report.counts.delivered).toBeGreaterThanOrEqual(3 * batchSize);
  expect(await ledger.run()).toMatchObject({ done: 2 + engine.performers, running: 0 });

  const next = await folder.runDay();
  expectReport(next, { exitCode: 0, state: 'succeeded', counts: { repeated: 0 } });
  await arrivals.checkWhole(next.report, bookings);
  expect(standIn.requests).toHaveLength(20);
});

it('a second SIGINT stops at once, with JSON, and the next run resumes', async () => {
  let hangs = true;
  const { folder, standIn, arrivals, bookings } = await prepareReviewedDay({
    bookings: 1_000,
    handler: () => (hangs ? { kind: 'hang' } : success),
  });
  const command = folder.start(runArguments);
  await standIn.received(inFlight);
  folder.processes.signal('SIGINT');
  for (const one of [command, ...folder.processes.workers]) await one.wrote('again to stop at once');
  folder.processes.signal('SIGINT');
  const result = await folder.processes.ended();
  expect(result.exitCode).toBe(1);
  expect(result.json).toEqual({ error: { class: 'stopped', message: expect.stringMatching(/at once/) } });
  hangs = false;
  const next = await folder.runDay();
  expectReport(next, { exitCode: 0, state: 'succeeded', counts: { repeated: inFlight * batchSize } });
  await arrivals.checkWhole(next.report, bookings);
});

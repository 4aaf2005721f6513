import { describe, expect, it } from 'vitest';
import type { RunningCommand } from '../support/command.js';
import { day } from '../support/day-folder.js';
import { countArrivals } from '../support/delivery-model.js';
import { freeze } from '../support/freeze.js';
import { type StandInHandler, success } from '../support/http-stand-in.js';
import { prepareReviewedDay, runArguments } from '../support/reviewed-day.js';

const batchSize = 50;

describe('a run that is killed', () => {
  it('in collect collects from nothing in the same run and sends everything once', async () => {
    const { folder, ledger, standIn, arrivals, bookings, records } = await prepareReviewedDay({
      bookings: 50_000,
      settings: { body: { batchSize: 500 } },
    });
    let collectStartedAt = 0;
    for (const token of [1, 2]) {
      const command = folder.start(runArguments);
      const { run, release } = await ledger.holdWhen(
        (moment) =>
          moment.state === 'collecting' && moment.collectStartedAt > collectStartedAt && moment.read > 0,
      );
      await kill(command);
      release();
      expect(run.token).toBe(token);
      expect(run.read).toBeLessThan(records);
      expect(ledger.run()).toEqual(run);
      ledger.expectSound();
      collectStartedAt = run.collectStartedAt;
    }
    const left = ledger.run();
    expect(standIn.requests).toEqual([]);

    const { exitCode, report } = await folder.runDay();
    expect(exitCode).toBe(0);
    expect(report.runId).toBe(left.runId);
    expect(report.counts).toMatchObject({ read: records, duplicates: 1_250, rejected: 1_000, repeated: 0 });
    arrivals.checkWhole(report, bookings);
    expect(standIn.requests).toHaveLength(100);
  });

  it('between two batches sends nothing twice', async () => {
    const { folder, ledger, standIn, arrivals, bookings } = await prepareReviewedDay({
      bookings: 600,
      settings: { body: { batchSize, concurrency: 1, requestsPerSecond: 20 } },
    });
    const command = folder.start(runArguments);
    const { run, release } = await ledger.holdWhen(({ done, running }) => done >= 3 && running === 0);
    await kill(command);
    release();
    ledger.expectSound();
    arrivals.check();
    expect(run.done).toBeLessThan(12);
    expect(standIn.requests).toHaveLength(run.done);

    const { exitCode, report } = await folder.runDay();
    expect(exitCode).toBe(0);
    expect(report.runId).toBe(run.runId);
    expect(report.counts.repeated).toBe(0);
    arrivals.checkWhole(report, bookings);
    expect(standIn.requests).toHaveLength(12);
  });

  it.each(['is on its way', 'lies there unread'] as const)(
    'after a batch was taken, while the answer %s, sends that batch again and counts it as repeated',
    async (answer) => {
      const killedAt = 6;
      let command: RunningCommand | undefined;
      const handler: StandInHandler = async (request, number) => {
        await request.readBody();
        if (number !== killedAt || !command) return success;
        const killed = command;
        if (answer === 'is on its way') {
          killed.kill('SIGKILL');
        } else {
          await freeze(killed);
          // When the answer was written to the connection.
          setImmediate(() => killed.kill('SIGKILL'));
        }
        return success;
      };
      const { folder, ledger, standIn, arrivals, bookings } = await prepareReviewedDay({
        bookings: 1_000,
        handler,
      });
      command = folder.start(runArguments);
      expect((await command.ended).signal).toBe('SIGKILL');
      ledger.expectSound();
      arrivals.check();
      const inFlight = ledger.steps().filter(({ state }) => state === 'running');
      const taken = readReferences(standIn.requests[killedAt - 1]?.body);
      expect(inFlight.map(({ references }) => references)).toContainEqual(taken);
      expect(standIn.accepted().map((hotel) => hotel.BookingReferenceId)).toEqual(
        expect.arrayContaining(taken),
      );

      const { exitCode, report } = await folder.runDay();
      expect(exitCode).toBe(0);
      expect(report.counts.repeated).toBe(inFlight.length * batchSize);
      arrivals.checkWhole(report, bookings);
      expect(taken.map((reference) => arrivals.of(reference))).toEqual(Array(batchSize).fill(2));
    },
  );

  it('during a replay goes on with the replay, and leaves the earlier run alone', async () => {
    const killedAt = 18;
    let command: RunningCommand | undefined;
    const handler: StandInHandler = async (request, number) => {
      await request.readBody();
      if (number === killedAt) command?.kill('SIGKILL');
      return success;
    };
    const { folder, ledger, standIn, bookings } = await prepareReviewedDay({ bookings: 600, handler });
    const first = await folder.runDay();
    expect(first.exitCode).toBe(0);
    expect(standIn.requests).toHaveLength(12);

    const arrivals = countArrivals(standIn, ledger);
    command = folder.start(['replay', day, '--json']);
    expect((await command.ended).signal).toBe('SIGKILL');
    ledger.expectSound();
    arrivals.check();
    const killed = ledger.run();
    expect(killed.state).toBe('delivering');
    expect(killed.runId).not.toBe(first.report.runId);

    const { exitCode, report } = await folder.runDay();
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ runId: killed.runId, trigger: 'replay' });
    arrivals.checkWhole(report, bookings);
    const { json } = await folder.run(['status', day, '--json']);
    expect(json).toMatchObject({
      runs: [
        { runId: killed.runId, state: 'succeeded', counts: report.counts },
        { runId: first.report.runId, state: 'succeeded', counts: first.report.counts },
      ],
    });
    expect((await folder.runDay()).exitCode, 'the day is done').toBe(0);
    arrivals.check();
  });
});

async function kill(command: RunningCommand): Promise<void> {
  command.kill('SIGKILL');
  expect((await command.ended).signal).toBe('SIGKILL');
}

function readReferences(body: Buffer | undefined): string[] {
  const { Hotels } = JSON.parse(String(body)) as { Hotels: { BookingReferenceId: string }[] };
  return Hotels.map(({ BookingReferenceId }) => BookingReferenceId);
}

import { describe, expect, it } from 'vitest';
import type { RunningCommand } from '../support/command.js';
import { day as businessDay } from '../support/day-folder.js';
import { engine, runsEveryCase } from '../support/engine.js';
import { createGate } from '../support/gate.js';
import { startHeldSource } from '../support/held-source.js';
import { success } from '../support/http-stand-in.js';
import type { WatchedBatch } from '../support/ledger-watch.js';
import {
  countArrivals,
  prepareReviewedDay,
  type ReviewedDay,
  runArguments,
} from '../support/reviewed-day.js';

const batchSize = 50;

describe('a run that is killed', () => {
  it('in collect collects again from the start in the same run and sends everything once', async () => {
    const source = await startHeldSource({ after: 6_000 });
    const { folder, ledger, standIn, arrivals, bookings, records } = await prepareReviewedDay({
      bookings: 10_000,
      source,
      settings: { body: { batchSize: 500 } },
    });
    let [collectStartedAt, token] = [0, 0];
    for (const _ of ['first kill', 'second kill']) {
      const command = folder.start(runArguments);
      const { run, release } = await ledger.holdWhen(
        (moment) => moment.collectStartedAt > collectStartedAt && moment.read > 0,
      );
      await kill(command);
      await release();
      expect(run.state).toBe('collecting');
      expect(run.token).toBeGreaterThan(token);
      expect(run.read).toBeLessThan(records);
      expect(await ledger.run()).toEqual(run);
      await ledger.expectSound();
      ({ collectStartedAt, token } = run);
    }
    source.giveRest();
    const left = await ledger.run();
    expect(standIn.requests).toEqual([]);

    const { exitCode, report } = await folder.runDay();
    expect(exitCode).toBe(0);
    expect(report.runId).toBe(left.runId);
    expect(report.counts).toMatchObject({ read: records, duplicates: 250, rejected: 200, repeated: 0 });
    await arrivals.checkWhole(report, bookings);
    expect(standIn.requests).toHaveLength(20);
  });

  it('after a batch was accepted, while the answer is in flight, sends that batch again and counts it as repeated', async () => {
    const killedAt = 6;
    const killing = createGate();
    const day = await prepareReviewedDay({
      bookings: 1_000,
      async handler(request, number) {
        const received = readReferences(await request.readBody());
        if (number !== killedAt) return success;
        const sender = await findSender(day, received);
        sender.kill('SIGKILL');
        void sender.ended.then(killing.open);
        return success;
      },
    });
    const { folder, ledger, standIn, arrivals, bookings } = day;
    folder.start(runArguments);
    await killing.passed;
    await ledger.expectSound();
    await arrivals.check();
    const received = readReferences(standIn.requests[killedAt - 1]?.body);
    expect(standIn.accepted().map((hotel) => hotel.BookingReferenceId)).toEqual(
      expect.arrayContaining(received),
    );
    const isReceived = ({ references }: WatchedBatch) => references[0] === received[0];

    const { exitCode, report } = await folder.processes.dayEnded(() => folder.runDay());
    expect(exitCode).toBe(0);
    const interrupted = (await ledger.attempts()).filter(({ outcome }) => outcome === 'interrupted');
    expect(interrupted.map(({ step }) => step)).toContain((await ledger.batches()).find(isReceived)?.name);
    // No more than is in flight: on a busy machine, another process may miss its lease too.
    expect(interrupted.length).toBeLessThanOrEqual(4 * engine.performers);
    expect(report.counts.repeated).toBe(interrupted.length * batchSize);
    await arrivals.checkWhole(report, bookings);
    expect(received.map((reference) => arrivals.of(reference))).toEqual(Array(batchSize).fill(2));
  });

  if (runsEveryCase) {
    it('during a replay resumes the replay, and leaves the earlier run alone', async () => {
      const killedAt = 18;
      const killing = createGate();
      const day = await prepareReviewedDay({
        bookings: 600,
        async handler(request, number) {
          const received = readReferences(await request.readBody());
          if (number !== killedAt) return success;
          const sender = await findSender(day, received);
          sender.kill('SIGKILL');
          void sender.ended.then(killing.open);
          return success;
        },
      });
      const { folder, ledger, standIn, bookings } = day;
      const first = await folder.runDay();
      expect(first.exitCode).toBe(0);
      expect(standIn.requests).toHaveLength(12);

      const arrivals = countArrivals(standIn, ledger);
      folder.start(['replay', businessDay, '--json', ...engine.tracing]);
      await killing.passed;
      await ledger.expectSound();
      await arrivals.check();
      const killed = await ledger.run();
      expect(killed.state).toBe('delivering');
      expect(killed.runId).not.toBe(first.report.runId);

      const { exitCode, report } = await folder.processes.dayEnded(() => folder.runDay());
      expect(exitCode).toBe(0);
      expect(report).toMatchObject({ runId: killed.runId, trigger: 'replay' });
      await arrivals.checkWhole(report, bookings);
      const { json } = await folder.run(['status', businessDay, '--json']);
      expect(json).toMatchObject({
        runs: [
          { runId: killed.runId, state: 'succeeded', counts: report.counts },
          { runId: first.report.runId, state: 'succeeded', counts: first.report.counts },
        ],
      });
      expect((await folder.runDay()).exitCode, 'the day is done').toBe(0);
      await arrivals.check();
    });
  }
});

async function kill(command: RunningCommand): Promise<void> {
  command.kill('SIGKILL');
  expect((await command.ended).signal).toBe('SIGKILL');
}

/** The process that sends a batch with these bookings. */
async function findSender(
  { folder, ledger }: ReviewedDay,
  [reference = '']: readonly string[],
): Promise<RunningCommand> {
  const { runId } = await ledger.run();
  const batch = (await ledger.batches()).find(({ references }) => references.includes(reference));
  if (!batch) throw new Error(`there is no batch with ${reference}`);
  return folder.processes.performerOf({ runId, step: batch.name, attempt: batch.attempts });
}

function readReferences(body: Buffer | undefined): string[] {
  const { Hotels } = JSON.parse(String(body)) as { Hotels: { BookingReferenceId: string }[] };
  return Hotels.map(({ BookingReferenceId }) => BookingReferenceId);
}
